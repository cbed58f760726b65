// How good an answer is, and why there is none: what the words under a reply say.

import type { ChatResponse, Scope, Selected } from "../service";
import type { Strings } from "../strings";

export const LEVELS = ["high", "medium", "low"] as const;
export type Level = (typeof LEVELS)[number];

/** Name the level of an answer. */
export function levelOf(response: ChatResponse): Level {
  return LEVELS.find((one) => one === response.confidence_level) ?? "low";
}

export const REASONS = ["reason", "reasonEmpty", "reasonFar", "reasonRead", "reasonSelection", "reasonSection"] as const;
export type Reason = (typeof REASONS)[number] & keyof Strings;

const NEAR_FROM = 0.7; // similarity, on the contract's scale, from which a passage is near the question

/** Say what was searched in vain, by what a refusal comes with: the contract names no type of it. */
export function reasonOf(response: ChatResponse, selected: Selected | null): Reason {
  if (selected?.scope === "selection") return "reasonSelection";
  if (selected?.scope === "section") return "reasonSection";
  const found = response.confidence_metrics;
  if (!Number.isFinite(found?.max_similarity)) return "reason";
  if (found.num_chunks === 0) return "reasonEmpty";
  return found.max_similarity < NEAR_FROM ? "reasonFar" : "reasonRead";
}

/** Name a refusal of one scope, and the wider ones in which the answer may be. */
export function refusalIn(scope: Scope): { heading: keyof Strings; wider: Scope[] } {
  if (scope === "selection") return { heading: "refusedSelection", wider: ["section", "book"] };
  if (scope === "section") return { heading: "refusedSection", wider: ["book"] };
  return { heading: "refused", wider: [] };
}
