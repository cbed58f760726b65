// A passage as the author wrote it, under the line that says where it stands.

import { h } from "../dom";
import { linkProps, safeUrl } from "../links";
import type { Citation } from "../service";
import type { Words } from "../strings";
import { Blocks, type Setting, setText, settingOf } from "./blocks";
import { copyOf, sameWords, whenSeen, wordsOf } from "./rich";
import { CUT, type Piece } from "./structure";

export const SELECTED = "selected_text";

/** What an excerpt asks of the panel that it stands in. */
export interface ExcerptHost {
  readonly words: Words;
  readonly base: string;
  announce(text: string): void;
  copy(text: string): Promise<void>;
  /** Give the way to load parts of the page that a citation stands on; null where the service does not have it. */
  fragment(citation: Citation): LoadFragment | null;
}

/** Load ranges of a page; with an offset, the section that it is in, with the ranges marked. */
export type LoadFragment = (ranges: readonly string[], sectionAt?: number) => Promise<Document>;

/** Words of the book that are shown as plain text until they have come as their author set them. */
interface Plain {
  citations: readonly Citation[];
  text: string;
  setting: Setting;
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
  readonly #plain: Plain[] = [];
  readonly #notes = new Map<string, Note>();
  #closed = false;
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
    const setting = this.#blocks.add(entry.piece, entry.isKey);
    if (!entry.isOwn) this.#plain.push({ citations: entry.citations, text: entry.piece.text, setting });
    for (const citation of entry.citations) this.#noteOf(citation).add(citation, entry.isKey);
    entry.numbers.forEach((number, at) => {
      const citation = entry.citations[at];
      if (!citation) return;
      setting.numerals.append(this.#numeral(citation, number));
      const quoted = entry.isOwn && this.#noteOf(citation).quote(citation, number);
      if (quoted) this.#plain.push({ citations: [citation], text: citation.referenced_text ?? "", setting: quoted });
    });
  }

  /** Have the words set as their author did, and offer the rest of the section, once the passage is whole. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const pages = [...this.#pages()];
    whenSeen(this.root, () => void Promise.all(pages.map(([load, plain]) => this.#setRich(load, plain))).then(() => this.root.classList.add("set")));
    const first = this.citation;
    const load = first && !this.isOwn && first.chunk_id !== SELECTED ? this.host.fragment(first) : null;
    if (first && load) this.root.append(this.#moreButton(load, first));
  }

  /** Group what is plain by the page that it stands on. */
  #pages(): Map<LoadFragment, Plain[]> {
    const pages = new Map<string, [LoadFragment | null, Plain[]]>();
    for (const plain of this.#plain) {
      const [first] = plain.citations;
      if (!first?.document_id || first.chunk_id === SELECTED || plain.citations.some((one) => one.document_id !== first.document_id)) continue;
      const page = pages.get(first.document_id) ?? [this.host.fragment(first), []];
      pages.set(first.document_id, page);
      page[1].push(plain);
    }
    return new Map([...pages.values()].flatMap(([load, plain]) => (load ? [[load, plain]] : [])));
  }

  /** Set words as the page has them; where it has others by now, or cannot be had, they stay as they are. */
  #setRich(load: LoadFragment, plain: readonly Plain[]): Promise<void> {
    return load(plain.map(({ citations }) => rangeOf(citations))).then(
      (page) => {
        const parts = [...page.querySelectorAll("[data-range]")];
        plain.forEach(({ text, setting }, at) => {
          const cells = [...(parts[at]?.children ?? [])].map((cell) => copyOf(cell, this.host.base));
          if (cells.length && sameWords(cells.map(wordsOf).join("|"), bare(text).replaceAll(" | ", "|"))) setting.set(cells);
        });
      },
      () => undefined,
    );
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

  #moreButton(load: LoadFragment, first: Citation): HTMLElement {
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
      const keys = this.entries.filter((one) => one.isKey && one.citations.every((cited) => cited.document_id === first.document_id));
      load(keys.map(({ citations }) => rangeOf(citations)), first.char_start).then(
        ({ body }) => {
          const section = copyOf(body, this.host.base);
          const marked = [...section.querySelectorAll("mark")].map(wordsOf).join("");
          const words = keys.map(({ piece }) => bare(piece.text)).join("");
          if (!sameWords(marked, words.replaceAll(" | ", ""))) return this.#tellFailure(button);
          whole.replaceChildren(section);
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
}

/** Give a text without the marks of what was left out around it. */
function bare(text: string): string {
  return CUT.exec(text)?.[2] ?? text;
}

/** Name the range of a page that citations are in. */
function rangeOf(citations: readonly Citation[]): string {
  return `${citations[0]?.char_start}-${citations.at(-1)?.char_end}`;
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
  quote(citation: Citation, number: number): Setting | null {
    if (!citation.referenced_text) return null;
    const words = h("q", { dir: "auto" });
    const quoted = h("p", { class: "quoted" }, h("span", { class: "number" }, String(number)), words);
    this.root.insertBefore(quoted, this.root.querySelector(".place"));
    return settingOf([setText(words, citation.referenced_text)]);
  }
}
