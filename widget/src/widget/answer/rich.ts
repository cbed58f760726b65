// The book's words as their author set them: what a service sends as HTML is copied node by node, by an allow-list.

import { h } from "../dom";
import { linkProps, safeUrl } from "../links";

const MATHML = "http://www.w3.org/1998/Math/MathML";
const TAGS = new Set("a aside blockquote code del details div em figure img kbd li mark ol p pre span strong sub summary sup table tbody td th thead tr ul".split(" "));
const FORMULA_TAG = /^(math|m[a-z]+|none|semantics)$/;
const ATTRIBUTES = new Set("alt aria-label data-language dir height loading open role scope start tabindex width".split(" "));
const UNSAFE = /^(on|href$|src$|style$|xlink|action|selection|id$)/;
const DROPPED = new Set(["script", "style", "template", "iframe", "object", "embed", "link", "meta", "base"]);

/** Copy what a node holds, as far as it only shows text, formulas, links and the service's own pictures. */
export function copyOf(source: Node, base: string): DocumentFragment {
  const copy = document.createDocumentFragment();
  for (const child of source.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) copy.append(child.textContent ?? "");
    else if (child.nodeType === Node.ELEMENT_NODE) copy.append(elementCopy(child as Element, base));
  }
  return copy;
}

function elementCopy(source: Element, base: string): Node {
  const name = source.localName;
  if (DROPPED.has(name)) return document.createDocumentFragment();
  const inside = copyOf(source, base);
  if (source.namespaceURI === MATHML) return formulaCopy(source, inside);
  if (name === "img") return pictureCopy(source, base);
  const url = name === "a" ? safeUrl(source.getAttribute("href"), base) : null;
  if (!TAGS.has(name) || (name === "a" && !url)) return inside;
  const made = filled(document.createElement(name), source, inside, (one) => ATTRIBUTES.has(one));
  if (url) for (const [key, value] of Object.entries(linkProps(url))) made.setAttribute(key, value);
  return made;
}

/** Copy a part of a formula; one that stands by itself scrolls where it is too wide. */
function formulaCopy(source: Element, inside: Node): Node {
  const name = source.localName;
  if (!FORMULA_TAG.test(name)) return inside;
  const made = filled(document.createElementNS(MATHML, name), source, inside, (one) => !UNSAFE.test(one));
  const isBlock = name === "math" && source.getAttribute("display") === "block";
  return isBlock ? h("span", { class: "drawn", tabindex: "0", dir: "ltr" }, made) : made;
}

/** Copy a picture if it is of the page's own site; elsewhere its words stand for it. */
function pictureCopy(source: Element, base: string): Node {
  const url = safeUrl(source.getAttribute("src"), base);
  const words = document.createTextNode(source.getAttribute("alt") ?? "");
  if (!url || new URL(url).origin !== location.origin) return words;
  const made = filled(document.createElement("img"), source, words, (one) => ATTRIBUTES.has(one));
  made.replaceChildren();
  made.setAttribute("src", url);
  return made;
}

/** Give a copy its attributes and children; classes get a prefix, so that none is one of the widget's own. */
function filled<E extends Element>(made: E, source: Element, inside: Node, allowed: (name: string) => boolean): E {
  for (const { name, value } of source.attributes) if (name !== "class" && allowed(name)) made.setAttribute(name, value);
  const classes = [...source.classList].map((one) => `b-${one}`).join(" ");
  if (classes) made.setAttribute("class", classes);
  made.append(inside);
  return made;
}

/** Give the words that a copy shows, as the book's plain text has them: a formula by its source. */
export function wordsOf(node: Node): string {
  if (node instanceof Element && node.localName === "math") return node.getAttribute("alttext") ?? "";
  if (node.nodeType === Node.TEXT_NODE) return node.textContent ?? "";
  return [...node.childNodes].map(wordsOf).join("");
}

/** Whether two texts have the same words. */
export function sameWords(one: string, other: string): boolean {
  const folded = (text: string): string => text.replace(/\s+/g, "");
  return folded(one) === folded(other);
}

/** Do something once an element can be seen: what is far up in a conversation may never be. */
export function whenSeen(element: Element, act: () => void): void {
  const watcher = new IntersectionObserver((seen) => {
    if (!seen.some((one) => one.isIntersecting)) return;
    watcher.disconnect();
    act();
  });
  watcher.observe(element);
}
