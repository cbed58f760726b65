// A part of the page that loads by itself: says what it is doing, what failed and what to do about it.

import { type Child, h } from "./dom";
import type { Filters } from "./places";
import { download, Failed } from "./service";

export interface Shown {
  readonly plot: Node;
  readonly table?: Node; // the same as a table
}
export interface Part<T> {
  readonly id: string;
  readonly title: string;
  readonly note?: string;
  readonly waiting: string;
  readonly load: (signal: AbortSignal) => Promise<T>;
  readonly show: (found: T) => Shown;
  readonly csv?: { readonly table: string; readonly filters: Filters };
  readonly live?: AbortSignal; // over when the view is left
  readonly first?: Promise<void>; // what to wait for
  readonly locked: (failed: Failed) => void;
}

export function panel<T>(part: Part<T>): HTMLElement {
  const body = h("div", { class: "body" });
  const tools = h("div", { class: "tools" });
  const heading = h("h2", { id: `${part.id}-title` }, part.title);
  const box = h("section", { id: part.id, class: "panel", "aria-labelledby": heading.id }, h("div", { class: "head" }, heading, tools), body);
  if (part.note) heading.after(h("p", { class: "note" }, part.note));

  const load = async () => {
    box.setAttribute("aria-busy", "true");
    body.replaceChildren(h("p", { class: "waiting" }, part.waiting));
    tools.replaceChildren();
    try {
      await part.first;
      if (part.live?.aborted) return;
      const shown = part.show(await part.load(part.live ?? new AbortController().signal));
      if (part.live?.aborted) return;
      body.replaceChildren(shown.plot);
      tools.replaceChildren(...toolsOf(part, shown, body));
    } catch (error) {
      if (part.live?.aborted) return;
      if (error instanceof Failed && error.needsKey) part.locked(error);
      else body.replaceChildren(problem(error, () => void load()));
    } finally {
      box.removeAttribute("aria-busy");
    }
  };
  void load();
  return box;
}

/** What failed, what to do, and a way to do it. */
export function problem(error: unknown, again: () => void): HTMLElement {
  const failed = error instanceof Failed ? error : new Failed(-1, "Something went wrong on this page.", "Load it again.");
  return h(
    "div",
    { class: "problem", role: "alert" },
    h("p", {}, h("strong", {}, failed.message), " ", failed.remedy),
    h("button", { type: "button", click: again }, "Try again"),
  );
}

export function csvButton(table: string, filters: Filters, title: string): HTMLElement {
  const button = h("button", { type: "button", class: "quiet", "aria-label": `Download as CSV: ${title}` }, "CSV");
  button.addEventListener("click", () => {
    button.disabled = true;
    button.textContent = "Writing…";
    download(table, filters)
      .catch((error: unknown) => {
        const failed = error instanceof Failed ? `${error.message} ${error.remedy}` : "The file could not be written.";
        button.after(h("span", { class: "problem", role: "alert" }, failed));
      })
      .finally(() => {
        button.disabled = false;
        button.textContent = "CSV";
      });
  });
  return button;
}

function toolsOf<T>(part: Part<T>, shown: Shown, body: HTMLElement): Child[] & HTMLElement[] {
  const made: HTMLElement[] = [];
  const { table } = shown;
  if (table) {
    const toggle = h("button", { type: "button", class: "quiet", "aria-pressed": "false", "aria-label": `Show as table: ${part.title}` }, "Table");
    toggle.addEventListener("click", () => {
      const asTable = toggle.getAttribute("aria-pressed") !== "true";
      toggle.setAttribute("aria-pressed", String(asTable));
      body.replaceChildren(asTable ? table : shown.plot);
    });
    made.push(toggle);
  }
  if (part.csv) made.push(csvButton(part.csv.table, part.csv.filters, part.title));
  return made;
}

/** A table whose first column names the row; wide ones scroll within themselves. */
export function table(caption: string, head: readonly string[], rows: readonly (readonly Child[])[]): HTMLElement {
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": `Table: ${caption}` },
    h(
      "table",
      {},
      h("caption", { class: "hidden" }, caption),
      h("thead", {}, h("tr", {}, ...head.map((name) => h("th", { scope: "col" }, name)))),
      h(
        "tbody",
        {},
        ...rows.map(([first, ...rest]) =>
          h("tr", {}, h("th", { scope: "row" }, first), ...rest.map((cell) => h("td", {}, cell))),
        ),
      ),
    ),
  );
}
