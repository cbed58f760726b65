// An answer as it comes: excerpts of the book, with a raised numeral after each sentence that answers.

import { h } from "../dom";
import type { Citation } from "../service";
import { type Entry, Excerpt, type ExcerptHost } from "./excerpt";
import type { Piece } from "./structure";

/** An answer that grows by sentences. */
export class AnswerBody {
  readonly root = h("div", { class: "body" });
  readonly excerpts: Excerpt[] = [];
  readonly pieces: Piece[] = [];
  readonly citations: Citation[] = [];
  #numbered = 0;

  constructor(readonly host: ExcerptHost) {}

  /** Set the next sentence. */
  add(piece: Piece, citations: readonly Citation[]): void {
    this.pieces.push(piece);
    this.citations.push(...citations);
    const entry = this.#entryOf(piece, citations);
    let last = this.excerpts.at(-1);
    if (!last?.holds(entry)) {
      last?.close();
      last = new Excerpt(this.host, entry.isOwn);
      this.excerpts.push(last);
      this.root.append(last.root);
    }
    last.add(entry);
  }

  /** Say that no sentence follows. */
  close(): void {
    this.excerpts.at(-1)?.close();
  }

  /** Start over. */
  clear(): void {
    this.root.replaceChildren();
    this.excerpts.length = this.pieces.length = this.citations.length = this.#numbered = 0;
  }

  /** Number a key sentence once; where it is in other words than the book's, number each quote that it rests on. */
  #entryOf(piece: Piece, citations: readonly Citation[]): Entry {
    const isKey = !citations.length || citations.some((one) => one.key !== false); // messages of old do not say
    const isOwn = !isVerbatim(piece, citations);
    const count = isKey ? (isOwn ? citations.length : Math.min(citations.length, 1)) : 0;
    const numbers = Array.from({ length: count }, () => ++this.#numbered);
    return { piece, citations, isKey, isOwn, numbers };
  }
}

/** Whether a sentence is nothing but its quotes; one whose quotes were not kept counts as such. */
function isVerbatim(piece: Piece, citations: readonly Citation[]): boolean {
  let rest = piece.text;
  for (const { referenced_text: quote } of citations) {
    if (!quote) return true;
    if (!rest.includes(quote)) return false;
    rest = rest.replace(quote, () => "");
  }
  return !/[^\s…]/.test(rest) || !citations.length;
}

/** Keep an index of a sentence within what there is. */
export function clamp(index: number, count: number): number {
  return Math.max(0, Math.min(index, count - 1));
}
