// Nodes are made here and nowhere else: text stays text, and nothing is ever parsed as HTML.

export type Child = Node | string | null | undefined | false;
type Props = Record<string, string | boolean | null | undefined | ((event: never) => void)>;

/** Make an element; a prop that is a function is a listener, a true one an empty attribute. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  setProps(node, props);
  node.append(...present(children));
  return node;
}

function setProps(node: Element, props: Props): void {
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === "function") node.addEventListener(name.slice(2), value as EventListener);
    else if (value === true) node.setAttribute(name, "");
    else if (typeof value === "string") node.setAttribute(name, value);
  }
}

function present(children: Child[]): (Node | string)[] {
  return children.filter((child): child is Node | string => Boolean(child));
}

/** Copy text; where the page has no clipboard, by a field within `room`. */
export async function copyText(text: string, room: HTMLElement): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const carrier = h("textarea", { class: "unseen", "aria-hidden": "true" });
  carrier.value = text;
  room.append(carrier);
  carrier.select();
  const done = document.execCommand("copy");
  carrier.remove();
  if (!done) throw new Error("not copied");
}

/** Draw an icon of 24 by 24 from the outline of one path; screen readers pass it by. */
export function icon(path: string): SVGSVGElement {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  for (const [name, value] of Object.entries({ viewBox: "0 0 24 24", "aria-hidden": "true", class: "icon" }))
    svg.setAttribute(name, value);
  const line = document.createElementNS(space, "path");
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}

export const ICONS = {
  book: "M12 6c-2-1.6-4.8-2-8-2v14c3.2 0 6 .4 8 2 2-1.6 4.8-2 8-2V4c-3.2 0-6 .4-8 2zm0 0v14",
  close: "M6 6l12 12M18 6L6 18",
  answer: "M4 5h16M4 10h16M4 15h10",
  caution: "M12 4l9 16H3L12 4zm0 6v4.5m0 2.5v.5",
  refused: "M12 3a9 9 0 100 18 9 9 0 000-18zM5.7 5.7l12.6 12.6",
  failed: "M4 12a8 8 0 0113.7-5.6L20 9M20 4v5h-5M20 12a8 8 0 01-13.7 5.6L4 15M4 20v-5h5",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  good: "M7 11l4-8c1.7 0 2.5 1 2.5 2.5L13 9h6l-1.5 10H7M7 11H3v8h4z",
  bad: "M7 13l4 8c1.7 0 2.5-1 2.5-2.5L13 15h6L17.5 5H7M7 13H3V5h4z",
  send: "M12 20V4M5 11l7-7 7 7",
  stop: "M6 6h12v12H6z",
  fresh: "M12 5v14M5 12h14",
  wide: "M9 6l-6 6 6 6M15 6l6 6-6 6",
  narrow: "M3 6l6 6-6 6M21 6l-6 6 6 6",
} as const;
