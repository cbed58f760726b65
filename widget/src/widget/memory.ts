// What the browser remembers per service and book: the id of a conversation, how its replies looked, and whether
// the panel was open. What was said is kept by the service alone, except what is the reader's: a selection, and the
// answer from it.

import { type ChatResponse, citationsOf, record, type Section, sectionsOf, type Selected, selectedOf } from "./service";
import { type Level, LEVELS, type Reason, REASONS } from "./answer/verdict";

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const MOST_REPLIES = 25; // as many as the service gives back
const MOST_CHARACTERS = 250_000; // of all that is kept of them

export type OwnAnswer = Pick<ChatResponse, "response" | "sentences" | "citations" | "disclaimer">;

export interface Asking {
  question: string;
  selected: Selected | null;
}

/** How a reply looked, in addition to the words that the service keeps of it. */
export interface Looks {
  requestId?: string | undefined;
  level?: Level | undefined; // of an answer
  reason?: Reason | undefined; // of a refusal
  helpful?: boolean | undefined;
  found: Section[]; // by the search
  nearest: Section[]; // as a refusal named them
  selected?: Selected | undefined;
  answer?: OwnAnswer | undefined; // from a selection
}

/** Remembers for one service and book; forgets at once where the browser keeps nothing. */
export class Memory {
  readonly #name: string;
  #session: string | null = null;

  constructor(base: string, book: string) {
    this.#name = `bythebook:${base}:${book}`;
  }

  /** The conversation to go on with. */
  get session(): string | null {
    const kept = this.#session ?? attempt(() => localStorage.getItem(this.#name));
    return kept && ID.test(kept) ? kept : null;
  }

  /** Give the conversation's id, a new one where there is none. */
  begin(): string {
    const id = this.session ?? newId();
    this.#session = id;
    attempt(() => localStorage.setItem(this.#name, id));
    return id;
  }

  /** Let go of the conversation. */
  end(): void {
    this.#session = null;
    attempt(() => localStorage.removeItem(this.#name));
    attempt(() => localStorage.removeItem(this.#replies));
    this.asking = null;
  }

  /** How the reply of a time looked, if that is known here. */
  looks(at: string): Looks | null {
    const kept = this.#kept();
    return Object.hasOwn(kept, at) ? looksOf(kept[at]) : null;
  }

  /** Keep how a reply looks; the oldest make room. */
  keep(at: string, looks: Looks): void {
    const all = Object.entries({ ...this.#kept(), [at]: looks }).sort(([one], [other]) => (one < other ? -1 : 1));
    let kept = all.slice(-MOST_REPLIES);
    while (JSON.stringify(kept).length > MOST_CHARACTERS) kept = kept.slice(1);
    attempt(() => localStorage.setItem(this.#replies, JSON.stringify(Object.fromEntries(kept))));
  }

  get #replies(): string {
    return `${this.#name}:replies`;
  }

  #kept(): Record<string, unknown> {
    return record(attempt(() => JSON.parse(localStorage.getItem(this.#replies) ?? "{}") as unknown));
  }

  /** The question that this tab has asked and not seen answered, to be asked again after a reload. */
  get asking(): Asking | null {
    const { question, selected } = record(attempt(() => JSON.parse(sessionStorage.getItem(this.#question) ?? "null") as unknown));
    return typeof question === "string" && question ? { question, selected: selectedOf(selected) } : null;
  }

  set asking(asking: Asking | null) {
    attempt(() => (asking ? sessionStorage.setItem(this.#question, JSON.stringify(asking)) : sessionStorage.removeItem(this.#question)));
  }

  get #question(): string {
    return `${this.#name}:question`;
  }

  get open(): boolean {
    return attempt(() => sessionStorage.getItem(this.#name)) === "open";
  }

  set open(open: boolean) {
    attempt(() => (open ? sessionStorage.setItem(this.#name, "open") : sessionStorage.removeItem(this.#name)));
  }
}

/** Take of what was kept no more than what can be shown: another script of the page may have written there. */
function looksOf(value: unknown): Looks {
  const { requestId, level, reason, helpful, found, nearest, selected, answer } = record(value);
  return {
    requestId: typeof requestId === "string" ? requestId : undefined,
    level: LEVELS.find((one) => one === level),
    reason: REASONS.find((one) => one === reason),
    helpful: typeof helpful === "boolean" ? helpful : undefined,
    found: sectionsOf(found),
    nearest: sectionsOf(nearest),
    selected: selectedOf(selected) ?? undefined,
    answer: ownAnswerOf(answer),
  };
}

function ownAnswerOf(value: unknown): OwnAnswer | undefined {
  const { response, sentences, citations, disclaimer } = record(value);
  if (typeof response !== "string" || !Array.isArray(sentences)) return undefined;
  return {
    response,
    sentences: sentences.filter((one) => typeof one === "string"),
    citations: citationsOf(citations),
    disclaimer: typeof disclaimer === "string" ? disclaimer : null,
  };
}

/** Make a random UUID (version 4); crypto.randomUUID is missing on pages without TLS. */
function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

function attempt<T>(use: () => T): T | null {
  try {
    return use();
  } catch {
    return null; // storage may be barred
  }
}
