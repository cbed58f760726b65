// Sentences -> paragraphs, lists, tables and code, as the book sets them; each grows in place.

import { h, icon, ICONS } from "../dom";
import { CUT, ELLIPSIS, type Form, type Piece } from "./structure";

/** What a block needs of the panel: to copy code. */
export interface CodeCopying {
  label: string;
  done: string;
  copy(text: string): Promise<void>;
}

const SHOWN_MS = 2000; // that something was copied
const LAST_WORD = /(?<=\s)\S{1,30}$|\S{1,8}$/;
const MOST_KEPT = 30; // characters of a formula or of code
const STANDS_ALONE: readonly Form[] = ["code", "formula"];

/** Words in their place; numerals stand after the last of them, and stay there when the words are set otherwise. */
export interface Setting {
  readonly numerals: HTMLElement;
  /** Set the same words as their author did: a row of a table by its cells, anything else as one. */
  set(cells: readonly DocumentFragment[]): void;
}

/** Running text that is added to sentence by sentence. */
export class Blocks {
  readonly root = h("div", { class: "text" });
  #form: Form | null = null; // of the last block
  #last: HTMLElement = this.root;

  constructor(readonly copying: CodeCopying) {}

  /** Set a sentence, as a key one or as context. */
  add(piece: Piece, key: boolean): Setting {
    const ink = key ? "key" : "context";
    if (STANDS_ALONE.includes(piece.form)) return this.#addCode(piece, ink);
    const block = this.#blockFor(piece);
    if (piece.form === "item") return this.#addItem(block, piece, ink);
    if (piece.form === "row" || piece.form === "head") return this.#addRow(block, piece, ink);
    if (block.hasChildNodes()) block.append(" ");
    const [, before = "", text = "", after = ""] = CUT.exec(piece.text) ?? [];
    const sentence = h("span", { class: ink });
    if (before) block.append(h("span", { class: "cut" }, before));
    block.append(sentence);
    if (after) block.append(h("span", { class: "cut" }, after));
    return settingOf([setText(sentence, text)]);
  }

  /** Give the block that a sentence goes on in, or a new one. */
  #blockFor(piece: Piece): HTMLElement {
    const { form } = piece;
    const isRow = form === "row" || form === "head";
    const goesOn = form === "prose" ? piece.joins && this.#form === "prose" : form !== "head" && this.#form === form;
    if (goesOn) return this.#last;
    const numbered = /^\d+[.)]$/.test(piece.mark);
    const block = h(isRow ? "table" : form === "prose" ? "p" : numbered ? "ol" : "ul", { class: isRow ? "rows" : form, dir: "auto" });
    this.root.append(isRow ? h("div", { class: "scroll", tabindex: "0" }, block) : block);
    this.#last = block;
    this.#form = isRow ? "row" : form;
    return block;
  }

  #addItem(list: HTMLElement, piece: Piece, ink: string): Setting {
    const number = list.tagName === "OL" ? /^\d+/.exec(piece.mark)?.[0] : null;
    const mark = number ? null : piece.mark;
    const item = h("li", { class: mark ? `${ink} marked` : ink, value: number }, mark && h("span", { class: "mark" }, `${mark} `));
    list.append(item);
    if (piece.cut) list.append(h("li", { class: "cut" }, ELLIPSIS));
    const sentence = h("span", {});
    item.append(sentence);
    return settingOf([setText(sentence, piece.text)]);
  }

  #addRow(table: HTMLElement, piece: Piece, ink: string): Setting {
    const head = piece.form === "head";
    const texts = piece.text.split(" | ");
    const cells = texts.map(() => h(head ? "th" : "td", head ? { scope: "col" } : {}));
    table.append(h("tr", { class: ink }, ...cells));
    if (piece.cut) table.append(h("tr", { class: "cut" }, h("td", { colspan: String(cells.length) }, ELLIPSIS)));
    return settingOf(texts.map((text, at) => setText(cells[at] ?? table, text)));
  }

  #addCode(piece: Piece, ink: string): Setting {
    const numerals = h("span", { class: "numerals" });
    const isCode = piece.form === "code";
    const head = h("figcaption", {}, h("span", { class: "language" }, piece.mark), numerals, isCode && this.#copyButton(piece.text));
    const code = h("code", {}, piece.text);
    const box = h("pre", { tabindex: "0", dir: "ltr" }, code);
    this.root.append(h("figure", { class: `${piece.form} ${ink}` }, head, box, piece.cut && h("p", { class: "cut" }, ELLIPSIS)));
    this.#form = piece.form;
    const set = ([words]: readonly DocumentFragment[]): void => {
      if (!words) return;
      if (words.querySelector(".drawn")) box.replaceWith(words);
      else code.replaceChildren(words);
    };
    return { numerals, set };
  }

  #copyButton(code: string): HTMLElement {
    const { label, done, copy } = this.copying;
    const button = h("button", { type: "button", class: "copy-code", "aria-label": label, title: label }, icon(ICONS.copy));
    button.addEventListener("click", () => {
      copy(code).then(
        () => {
          button.replaceChildren(done);
          setTimeout(() => button.replaceChildren(icon(ICONS.copy)), SHOWN_MS);
        },
        () => undefined, // the panel has said so
      );
    });
    return button;
  }
}

/** Give what sets words into places that end with the numerals, of which each may have its own. */
export function settingOf(places: readonly HTMLElement[]): Setting {
  const set = (cells: readonly DocumentFragment[]): void => {
    if (cells.length !== places.length) return;
    places.forEach((place, at) => setRich(place, cells[at]!));
  };
  return { numerals: places.at(-1)!, set };
}

/** Put words before a place, with their end within it; the numerals that are there are not touched. */
function setRich(place: HTMLElement, words: DocumentFragment): void {
  while (place.previousSibling) place.previousSibling.remove();
  while (place.firstChild && place.firstChild !== place.querySelector(".numeral")) place.firstChild.remove();
  if (place.firstChild) place.prepend(endOf(words));
  place.before(words);
}

/** Take from the words what has to stay on the line of the numerals: the last word, a short formula, or nothing but a joiner. */
function endOf(words: DocumentFragment): Node {
  const last = words.lastChild;
  if (last instanceof Text) {
    const cut = last.data.search(LAST_WORD);
    return cut > 0 ? last.splitText(cut) : last;
  }
  const isShort = last && (last.textContent ?? "").length <= MOST_KEPT;
  return isShort ? last : document.createTextNode("\u2060");
}

/** Set text so that its last word, or the end of a long one, and the numerals after it stay on one line; give their place. */
export function setText(node: HTMLElement, text: string): HTMLElement {
  const cut = text.search(LAST_WORD);
  const last = cut > 0 ? text.slice(cut) : "";
  const place = h("span", { class: "kept" }, last);
  node.append(text.slice(0, text.length - last.length), place);
  return place;
}
