// Elements made of text and attributes only: nothing that came from a reader is ever read as HTML.

export type Child = Node | string | number | null | undefined | false;
type Value = string | number | boolean | undefined | ((event: Event) => void);
export type Attributes = Readonly<Record<string, Value>>;

const SVG = "http://www.w3.org/2000/svg";

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return filled(document.createElement(tag), attributes, children);
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/** A link to a page of the book; as plain text where the address is not one of the web's. */
export function bookLink(url: string, words: string, name = "place"): HTMLElement {
  return isWebAddress(url)
    ? h("a", { href: url, class: name, target: "_blank", rel: "noopener noreferrer" }, words)
    : h("span", { class: name }, words);
}

export function isWebAddress(url: string): boolean {
  try {
    return ["http:", "https:"].includes(new URL(url, location.href).protocol);
  } catch {
    return false;
  }
}

function filled<E extends Element>(element: E, attributes: Attributes, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      element.addEventListener(name, value);
    } else if (value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false).map(asNode));
  return element;
}

function asNode(child: Child): Node {
  return child instanceof Node ? child : document.createTextNode(String(child));
}
