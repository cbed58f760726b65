// The sentences of an answer as they come, each with raised numerals, and its quotes beside or below it.

import { h } from "./dom";
import { linkProps, placeOf, safeUrl } from "./links";
import type { Citation } from "./service";
import type { Words } from "./strings";
import type { Form, Piece } from "./structure";

const SELECTED = "selected_text";
let names = 0; // of elements that name one another

interface Block {
  form: Form;
  root: HTMLElement;
  text: HTMLElement;
  notes: HTMLElement | null; // of tables and code; else a note follows its numeral
}

/** An answer that grows by sentences. */
export class AnswerBody {
  readonly root = h("div", { class: "body" });
  readonly pieces: Piece[] = [];
  readonly citations: Citation[] = [];
  #last: Block | null = null;
  #place = ""; // where the quote before stands

  constructor(
    readonly words: Words,
    readonly base: string,
  ) {}

  /** Set the next sentence. */
  add(piece: Piece, citations: readonly Citation[]): void {
    this.pieces.push(piece);
    const block = this.#blockFor(piece);
    const place = this.#set(block, piece);
    const notes = block.notes ?? place.parentElement ?? place;
    for (const citation of citations) {
      this.citations.push(citation);
      this.#cite(place, notes, citation, this.citations.length);
    }
  }

  /** Begin anew. */
  clear(): void {
    this.root.replaceChildren();
    this.pieces.length = this.citations.length = 0;
    this.#last = null;
    this.#place = "";
  }

  /** Write the answer as plain text with numbered quotes below it. */
  plain(): string {
    let number = 0;
    const text = this.pieces.map((piece, index) => {
      const own = this.citations.filter((one) => clamp(one.sentence, this.pieces.length) === index);
      const numerals = own.map(() => `[${++number}]`).join("");
      const gap = index === 0 ? "" : piece.joins ? " " : piece.form === this.pieces[index - 1]?.form && isEntry(piece) ? "\n" : "\n\n";
      const lead = piece.form === "item" ? `${piece.mark || "-"} ` : "";
      return `${gap}${lead}${piece.text}${numerals && " "}${numerals}`;
    });
    const notes = this.citations.map((one, index) => {
      const place = placeOf(one.chapter, one.chunk_id === SELECTED ? this.words.say("yourSelection") : one.section);
      const url = safeUrl(one.link ?? one.source_url, this.base);
      return [`[${index + 1}] “${one.referenced_text ?? ""}”`, place, url].filter(Boolean).join("\n    ");
    });
    return `${text.join("")}\n\n${notes.join("\n")}\n`;
  }

  #blockFor(piece: Piece): Block {
    const last = this.#last;
    const goes = last && (piece.joins ? last.form === "prose" : isEntry(piece) && group(last.form) === group(piece.form));
    if (last && goes && piece.form !== "head") return last;
    const text = h(containerOf(piece), { class: piece.form, dir: "auto" });
    const table = piece.form === "row" || piece.form === "head";
    const notes = table || piece.form === "code" || piece.form === "formula" ? h("div", { class: "notes" }) : null;
    const root = h("div", { class: "block" }, table ? h("div", { class: "scroll" }, text) : text, notes);
    this.root.append(root);
    this.#last = { form: piece.form, root, text, notes };
    return this.#last;
  }

  /** Put a sentence into its block; give the place of its numerals. */
  #set(block: Block, piece: Piece): HTMLElement {
    if (piece.form === "item") {
      const item = h("li", { class: piece.mark ? "marked" : "" }, piece.mark && h("span", { class: "mark" }, `${piece.mark} `));
      block.text.append(item);
      return setText(item, piece.text);
    }
    if (piece.form === "row" || piece.form === "head") return setRow(block.text, piece);
    if (piece.form === "code" || piece.form === "formula") {
      block.text.append(h("pre", { tabindex: "0" }, h("code", {}, piece.text)));
      const numerals = h("p", { class: "numerals" });
      block.text.append(numerals);
      return numerals;
    }
    if (block.text.hasChildNodes()) block.text.append(" ");
    return setText(block.text, piece.text);
  }

  #cite(place: HTMLElement, notes: HTMLElement, citation: Citation, number: number): void {
    const id = `note-${++names}`;
    const note = this.#note(citation, number, id);
    const numeral = h(
      "button",
      {
        type: "button",
        class: "numeral",
        "aria-expanded": "false",
        "aria-controls": id,
        "aria-label": this.words.say("quote", { n: number }),
        onclick: () => toggle(numeral, note),
      },
      String(number),
    );
    place.append(numeral);
    notes.append(note);
  }

  #note(citation: Citation, number: number, id: string): HTMLElement {
    const selected = citation.chunk_id === SELECTED;
    const url = safeUrl(citation.link ?? citation.source_url, this.base);
    const place = selected ? this.words.say("yourSelection") : placeOf(citation.chapter, citation.section);
    const name = `${id}-n`;
    const again = place === this.#place;
    this.#place = place;
    return h(
      "span",
      { class: again ? "note again" : "note", id, role: "note", "aria-labelledby": name },
      h("span", { class: "number", id: name, "aria-label": this.words.say("quote", { n: number }), role: "img" }, String(number)),
      citation.referenced_text ? h("q", { dir: "auto" }, citation.referenced_text) : null,
      h("span", { class: "place", dir: "auto" }, place),
      url && h("a", { ...linkProps(url), class: "read", "aria-label": this.words.say("readQuote", { n: number }) }, this.words.say("read")),
    );
  }
}

function toggle(numeral: HTMLElement, note: HTMLElement): void {
  const open = note.classList.toggle("open");
  numeral.setAttribute("aria-expanded", String(open));
  if (open) note.scrollIntoView({ block: "nearest" });
}

/** Set text so that its last word, or the end of a long one, and the numerals after it stay on one line; give their place. */
function setText(node: HTMLElement, text: string): HTMLElement {
  const cut = text.search(/(?<=\s)\S{1,30}$|\S{1,8}$/);
  const last = cut > 0 ? text.slice(cut) : "";
  const place = h("span", { class: "kept" }, last);
  node.append(text.slice(0, text.length - last.length), place);
  return place;
}

function setRow(table: HTMLElement, piece: Piece): HTMLElement {
  const cells = piece.text.split(" | ").map((cell) => h(piece.form === "head" ? "th" : "td", piece.form === "head" ? { scope: "col" } : {}, cell));
  table.append(h("tr", {}, ...cells));
  return cells[cells.length - 1] ?? table;
}

function containerOf(piece: Piece): "p" | "ul" | "table" | "div" {
  if (piece.form === "item") return "ul";
  if (piece.form === "row" || piece.form === "head") return "table";
  return piece.form === "prose" ? "p" : "div";
}

function isEntry(piece: Piece): boolean {
  return ["item", "row", "head"].includes(piece.form);
}

function group(form: Form): Form {
  return form === "head" ? "row" : form;
}

/** Keep an index of a sentence within what there is. */
export function clamp(index: number, count: number): number {
  return Math.max(0, Math.min(index, count - 1));
}
