// Style sheets made by script, which a strict policy of the page allows; and the mark on what is selected.

import { PAGE_STYLES } from "./styles";

const HIGHLIGHT = "bythebook-selection";
let pageSheet: CSSStyleSheet | null = null;

export function styleSheet(text: string): CSSStyleSheet {
  const made = new CSSStyleSheet();
  made.replaceSync(text);
  return made;
}

/** Mark a range of the page while its question is typed, where the browser can. */
export function setHighlight(range: Range | null): void {
  if (!("highlights" in CSS) || typeof Highlight === "undefined") return;
  if (!range) {
    CSS.highlights.delete(HIGHLIGHT);
    return;
  }
  if (!pageSheet) {
    pageSheet = styleSheet(PAGE_STYLES);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, pageSheet];
  }
  CSS.highlights.set(HIGHLIGHT, new Highlight(range.cloneRange()));
}
