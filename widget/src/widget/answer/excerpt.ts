// A passage as the author wrote it, under the line that says where it stands.

import { h } from "../dom";
import { linkProps, safeUrl } from "../links";
import type { Citation } from "../service";
import type { Words } from "../strings";
import { Blocks } from "./blocks";
import { ELLIPSIS, type Piece } from "./structure";

export const SELECTED = "selected_text";
const MOST_AROUND = 3000; // characters that a section shows before and after the passage

/** What an excerpt asks of the panel that it stands in. */
export interface ExcerptHost {
  readonly words: Words;
  readonly base: string;
  announce(text: string): void;
  copy(text: string): Promise<void>;
  /** Load the section that a citation stands in; null where the service does not have its text. */
  section(citation: Citation): (() => Promise<string>) | null;
}

/** One sentence of an answer, as it is shown and copied. */
export interface Entry {
  piece: Piece;
  citations: readonly Citation[];
  isKey: boolean;
  isOwn: boolean; // in other words than the book's
  numbers: number[];
}

/** Sentences of one passage, or a paragraph in other words than the book's. */
export class Excerpt {
  readonly root: HTMLElement;
  readonly entries: Entry[] = [];
  readonly #blocks: Blocks;
  readonly #notes = new Map<string, Note>();
  readonly #sources = h("div", { class: "sources" });

  constructor(
    readonly host: ExcerptHost,
    readonly isOwn: boolean,
  ) {
    const { words } = host;
    const copy = (text: string): Promise<void> => host.copy(text).then(() => host.announce(words.say("copied")));
    this.#blocks = new Blocks({ label: words.say("copyCode"), done: words.say("copied"), copy });
    const parts = [this.#sources, this.#blocks.root];
    this.root = h("div", { class: isOwn ? "excerpt own" : "excerpt" }, ...(isOwn ? parts.reverse() : parts));
  }

  /** Whether a sentence with these citations goes on here. */
  holds(entry: Entry): boolean {
    const { piece, citations, isOwn } = entry;
    return piece.joins || !citations.length || (isOwn && this.isOwn) || citations.some((one) => this.#notes.has(one.chunk_id));
  }

  add(entry: Entry): void {
    this.entries.push(entry);
    const place = this.#blocks.add(entry.piece, entry.isKey);
    for (const citation of entry.citations) this.#noteOf(citation).add(citation, entry.isKey);
    entry.numbers.forEach((number, at) => {
      const citation = entry.citations[at];
      if (!citation) return;
      place.append(this.#numeral(citation, number));
      if (entry.isOwn) this.#noteOf(citation).quote(citation, number);
    });
  }

  /** Offer the rest of the section, once the passage is whole. */
  close(): void {
    const first = this.citation;
    const load = first && !this.isOwn && first.chunk_id !== SELECTED ? this.host.section(first) : null;
    if (load && !this.root.querySelector(".more")) this.root.append(this.#moreButton(load));
  }

  /** The first quote that answers, else the first. */
  get citation(): Citation | undefined {
    return (this.entries.find((one) => one.isKey) ?? this.entries[0])?.citations[0];
  }

  #numeral(citation: Citation, number: number): HTMLElement {
    const url = safeUrl(citation.link ?? citation.source_url, this.host.base);
    if (!url) return h("span", { class: "numeral" }, String(number));
    const label = this.host.words.say("readQuote", { n: number });
    return h("a", { ...linkProps(url), class: "numeral", "aria-label": label, title: label }, String(number));
  }

  #noteOf(citation: Citation): Note {
    let note = this.#notes.get(citation.chunk_id);
    if (!note) {
      note = new Note(this.host, citation);
      this.#notes.set(citation.chunk_id, note);
      this.#sources.append(note.root);
    }
    return note;
  }

  #moreButton(load: () => Promise<string>): HTMLElement {
    const { words } = this.host;
    const whole = h("div", { class: "text whole", hidden: true });
    const button = h("button", { type: "button", class: "more", "aria-expanded": "false" }, words.say("more"));
    const show = (open: boolean): void => {
      whole.hidden = !open;
      this.#blocks.root.hidden = open;
      button.setAttribute("aria-expanded", String(open));
      button.replaceChildren(words.say(open ? "less" : "more"));
    };
    button.addEventListener("click", () => {
      if (whole.hasChildNodes()) return show(whole.hidden);
      load().then(
        (text) => {
          whole.replaceChildren(...this.#around(withoutTitle(text, this.citation?.section ?? "")));
          show(true);
        },
        () => this.#tellFailure(button),
      );
    });
    this.#blocks.root.after(whole);
    return button;
  }

  #tellFailure(button: HTMLElement): void {
    const said = this.host.words.say("notLoaded");
    button.replaceChildren(said);
    this.host.announce(said);
  }

  /** Set a section's text with the key sentences of this passage marked where they stand in it. */
  #around(text: string): (Node | string)[] {
    const places: [start: number, end: number][] = [];
    for (const { isKey, citations } of this.entries)
      for (const { referenced_text: quote } of citations) {
        const start = isKey && quote ? text.indexOf(quote) : -1;
        if (quote && start >= (places.at(-1)?.[1] ?? 0)) places.push([start, start + quote.length]);
      }
    const from = text.lastIndexOf("\n", Math.max((places[0]?.[0] ?? 0) - MOST_AROUND, 0)) + 1;
    const until = (places.at(-1)?.[1] ?? 0) + MOST_AROUND;
    const stop = until < text.length ? text.indexOf("\n", until) : -1;
    const end = stop < 0 ? text.length : stop;
    const nodes: (Node | string)[] = from ? [`${ELLIPSIS}\n`] : [];
    let at = from;
    for (const [start, last] of places) {
      nodes.push(text.slice(at, start), h("span", { class: "key" }, text.slice(start, last)));
      at = last;
    }
    return [...nodes, text.slice(at, end), end < text.length ? `\n${ELLIPSIS}` : ""];
  }
}

/** Leave out the title that stands above the passage already. */
function withoutTitle(text: string, title: string): string {
  return title && text.startsWith(`${title}\n`) ? text.slice(title.length).trimStart() : text;
}

/** Where a passage stands, and the link that opens the book at its key quote. */
class Note {
  readonly root: HTMLElement;
  readonly #host: ExcerptHost;
  #link: HTMLAnchorElement | null = null; // once there is an address that may be followed
  #leadsToKey = false;

  constructor(host: ExcerptHost, citation: Citation) {
    this.#host = host;
    this.root = h("div", { class: "note", role: "note" }, this.#place(citation));
  }

  #place({ chunk_id, chapter, section }: Citation): HTMLElement {
    if (chunk_id === SELECTED) return h("span", { class: "place" }, this.#host.words.say("yourSelection"));
    const within = chapter && section && chapter !== section ? h("span", { class: "within" }, chapter) : null;
    return h("span", { class: "place", dir: "auto" }, within, section || chapter || "");
  }

  /** Lead to the first key quote; until there is one, to the first quote. */
  add(citation: Citation, isKey: boolean): void {
    const url = safeUrl(citation.link ?? citation.source_url, this.#host.base);
    if (!url || this.#leadsToKey || (this.#link && !isKey)) return;
    this.#leadsToKey = isKey;
    const link = h("a", { ...linkProps(url), class: "read" }, this.#host.words.say("read"));
    if (this.#link) this.#link.replaceWith(link);
    else this.root.append(link);
    this.#link = link;
  }

  /** Show the words that a sentence rests on, where it has others. */
  quote(citation: Citation, number: number): void {
    if (!citation.referenced_text) return;
    const quoted = h("p", { class: "quoted" }, h("span", { class: "number" }, String(number)), h("q", { dir: "auto" }, citation.referenced_text));
    this.root.insertBefore(quoted, this.root.querySelector(".place"));
  }
}
