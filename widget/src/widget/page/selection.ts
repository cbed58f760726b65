// What a reader selected in the page -> its text, as the book's plain text has it.
//
// Blocks stand on lines of their own, table cells are separated by " | ", code keeps its lines; what
// cannot be selected or seen is left out.

export const LEAST = 10; // characters, as the service takes them
export const MOST = 5000;
const LEFT_OUT = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "IFRAME", "OBJECT", "SVG", "TEXTAREA", "SELECT", "BUTTON"]);
const CELL = " | ";
const FORMULA = ".katex, math";

/** Give the text of a range. */
export function rangeText(range: Range): string {
  const writer = new Writer(range);
  const top = range.commonAncestorContainer;
  const formula = elementOf(top)?.closest(FORMULA);
  if (formula) writer.element(formula); // whole: parts of it are no text of the book
  else if (top.nodeType === Node.TEXT_NODE) writer.text(top as Text);
  else writer.children(top);
  return writer.done();
}

class Writer {
  #out = "";
  #gap = ""; // what parts the next text from what is written: a space, a cell's bar or a line's end

  constructor(readonly range: Range) {}

  children(node: Node): void {
    for (const child of node.childNodes) {
      if (!this.range.intersectsNode(child)) continue;
      if (child.nodeType === Node.TEXT_NODE) this.text(child as Text);
      else if (child.nodeType === Node.ELEMENT_NODE) this.element(child as Element);
    }
  }

  text(node: Text): void {
    const parent = node.parentElement;
    const style = parent && getComputedStyle(parent);
    if (!style || style.userSelect === "none" || style.visibility !== "visible") return;
    const start = node === this.range.startContainer ? this.range.startOffset : 0;
    const end = node === this.range.endContainer ? this.range.endOffset : node.length;
    const text = node.data.slice(start, end);
    const space = style.whiteSpace;
    if (/^(pre|pre-wrap|break-spaces)$/.test(space)) this.#verbatim(text);
    else this.#flow(space === "pre-line" ? text : text.replace(/\n/g, " "));
  }

  done(): string {
    return this.#out.trim();
  }

  element(element: Element): void {
    if (LEFT_OUT.has(element.tagName.toUpperCase())) return;
    if (element.tagName === "BR") return this.#part("\n");
    const style = getComputedStyle(element);
    if (style.display === "none" || style.userSelect === "none") return;
    const formula = element.matches(FORMULA) ? element.querySelector("annotation") : null;
    const source = formula?.textContent ?? (element.matches("math") ? element.getAttribute("alttext") : null);
    if (source) return this.#flow(source); // the book's text has its TeX, which may stand twice in the page
    const cell = style.display === "table-cell";
    const block = !cell && !/^(inline|contents|ruby)/.test(style.display);
    if (cell && hasCellBefore(element)) this.#part(CELL);
    if (block) this.#part("\n");
    this.children(element);
    if (block) this.#part("\n");
  }

  /** Write text of which line breaks and runs of spaces mean nothing but a space or a line. */
  #flow(text: string): void {
    for (const [part] of text.matchAll(/\s+|\S+/g)) {
      if (/\S/.test(part)) this.#write(part);
      else this.#part(part.includes("\n") ? "\n" : " ");
    }
  }

  #verbatim(text: string): void {
    if (text.trim()) this.#write(text);
    else this.#out += this.#out && text;
  }

  #write(text: string): void {
    if (this.#out && !(this.#gap === " " && /\s$/.test(this.#out))) this.#out += this.#gap;
    this.#out += text;
    this.#gap = "";
  }

  #part(by: string): void {
    const rank = ["", " ", CELL, "\n"];
    if (rank.indexOf(by) > rank.indexOf(this.#gap)) this.#gap = by;
  }
}

function hasCellBefore(cell: Element): boolean {
  return cell.previousElementSibling !== null;
}

export interface Picked {
  text: string;
  range: Range;
  length: number; // code points, as the service counts
}

/** What is selected now, outside the widget and outside fields, if it is long enough to ask about. */
export function selectedNow(widget: Element, within: string): Picked | null {
  const selection = document.getSelection();
  if (!selection || selection.rangeCount === 0 || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  const place = elementOf(range.commonAncestorContainer);
  if (!place || widget.contains(place) || place.closest("[contenteditable]:not([contenteditable=false])")) return null;
  if (within && !place.closest(within)) return null;
  const text = rangeText(range);
  const length = [...text].length;
  return length >= LEAST ? { text, range, length } : null;
}

function elementOf(node: Node): Element | null {
  return node.nodeType === Node.ELEMENT_NODE ? (node as Element) : node.parentElement;
}

/** Find where a small button of a size stands by a range, in the window, without covering it. */
export function placeBeside(range: Range, width: number, height: number, touch: boolean): { x: number; y: number } | null {
  const rects = [...range.getClientRects()].filter((rect) => rect.width > 0 && rect.height > 0);
  const first = rects[0];
  const last = rects[rects.length - 1];
  if (!first || !last) return null;
  const gap = touch ? 28 : 8; // handles of a selection hang below it
  const right = innerWidth - width - 8;
  const x = Math.max(8, Math.min(last.right - width / 2, right));
  const below = Math.max(...rects.map((rect) => rect.bottom)) + gap;
  const above = Math.min(...rects.map((rect) => rect.top)) - gap - height;
  if (below + height <= innerHeight - 4) return below < 0 ? null : { x, y: below };
  if (above >= 4) return above > innerHeight ? null : { x, y: above };
  return { x: right, y: innerHeight - height - 8 }; // it fills the window: stand in the corner
}
