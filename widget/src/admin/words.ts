// Numbers, days and kinds in words.

import type { Refusal } from "./types";

const WHOLE = new Intl.NumberFormat("en");
const SHARE = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 0 });
const FINE_SHARE = new Intl.NumberFormat("en", { style: "percent", minimumFractionDigits: 2, maximumFractionDigits: 2 });
const DAY = new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", day: "numeric", month: "short" });
const FULL_DAY = new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", day: "numeric", month: "long", year: "numeric" });
const MOMENT = new Intl.DateTimeFormat("en-GB", {
  timeZone: "UTC",
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});

export const count = (value: number): string => WHOLE.format(value);
export const fineShare = (value: number): string => FINE_SHARE.format(value);
export const day = (iso: string): string => DAY.format(new Date(iso));
export const fullDay = (iso: string): string => FULL_DAY.format(new Date(iso));
export const moment = (iso: string): string => MOMENT.format(new Date(iso));
export const score = (value: number): string => value.toFixed(2);
export const plural = (value: number, one: string, many = `${one}s`): string => `${count(value)} ${value === 1 ? one : many}`;

/** What each part is of the whole, in percent that add up to 100: the largest remainders are rounded up. */
export function shares(parts: readonly number[]): string[] {
  const whole = parts.reduce((sum, part) => sum + part, 0);
  if (!whole) return parts.map(() => "–");
  const exact = parts.map((part) => (100 * part) / whole);
  const percents = exact.map(Math.floor);
  const missing = 100 - percents.reduce((sum, percent) => sum + percent, 0);
  const byRemainder = exact.map((value, place) => ({ place, remainder: value % 1 })).sort((a, b) => b.remainder - a.remainder);
  const raised = new Set(byRemainder.slice(0, missing).map(({ place }) => place));
  return percents.map((percent, place) => SHARE.format((percent + (raised.has(place) ? 1 : 0)) / 100));
}

export function duration(ms: number): string {
  return ms < 1000 ? `${count(ms)} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
}

/** What changed from one week to the next. */
export function change(now: number, before: number): string {
  if (now === before) return "the same";
  if (!before) return "none before";
  const part = SHARE.format(Math.abs(now - before) / before);
  return now > before ? `up ${part}` : `down ${part}`;
}

export type Kind = "answered" | Refusal | "failed";
export const KINDS: readonly Kind[] = [
  "answered",
  "insufficient_grounding",
  "low_relevance",
  "empty_retrieval",
  "selected_text_missing",
  "failed",
];
const NAMES: Readonly<Record<Kind, string>> = {
  answered: "Answered",
  insufficient_grounding: "Near, but no answer",
  low_relevance: "Nothing near enough",
  empty_retrieval: "Nothing found",
  selected_text_missing: "Not in the selection",
  failed: "Failed",
};

export const kindName = (kind: Kind): string => NAMES[kind];

export function kindOf(status: string, refusal: Refusal | null): Kind {
  if (status === "success") return "answered";
  return status === "refused" && refusal ? refusal : "failed";
}

/** Where in a book; chapter and section are often the same. */
export function place(chapter: string, section: string): string {
  return [...new Set([chapter, section])].filter(Boolean).join(" › ");
}
