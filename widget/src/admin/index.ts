// The author's page: what readers ask, what the book leaves unanswered, and how it was read.

import { h } from "./dom";
import { keyForm } from "./key";
import { overviewView } from "./overview";
import { questionView } from "./passages";
import { DAYS, type Filters, here, to } from "./places";
import { questionsView } from "./questions";
import { Failed, keepKey, key, read } from "./service";
import type { Overview } from "./types";

const root = document.getElementById("admin");
let books: Overview["books"] = [];
let leaving = new AbortController();
let isFirst = true;

function show(): void {
  if (!root) return;
  leaving.abort();
  leaving = new AbortController();
  const live = leaving.signal;
  const place = here();
  const base = { live, locked };
  const found = (overview: Overview) => {
    if (!live.aborted && JSON.stringify(books) !== JSON.stringify(overview.books)) {
      books = overview.books;
      document.getElementById("bar")?.replaceWith(bar(place.filters));
    }
  };
  const views = {
    overview: () => overviewView(place.filters, base, found),
    questions: () => questionsView(place.filters, base),
    question: () => questionView(place.id, place.filters, base),
  };
  const main = h("main", { id: "main", tabindex: -1 }, views[place.view]());
  root.replaceChildren(bar(place.filters), main, h("footer", {}, "From the log of questions, which keeps 90 days: no answers, no conversations, no selected text, nobody’s name. Days are UTC."));
  document.title = { overview: "What readers ask", questions: "Questions · What readers ask", question: "A question · What readers ask" }[place.view];
  if (!isFirst) main.focus();
  isFirst = false;
  if (place.view !== "overview" && !books.length) void read<Overview>("overview", { days: "1" }, live).then(found, () => undefined);
}

function bar(filters: Filters): HTMLElement {
  const place = here();
  const path = place.view === "question" ? `question/${place.id}` : place.view === "questions" ? "questions" : "";
  const without = (...names: string[]): Filters => Object.fromEntries(Object.entries(filters).filter(([name]) => ![...names, "skip"].includes(name)));
  const days = filters["days"] ?? "30";
  const isPinned = Boolean(filters["since"] || filters["until"]);
  return h(
    "header",
    { id: "bar" },
    h("h1", {}, h("a", { href: to("", without("since", "until")) }, "What readers ask")),
    books.length > 1 || filters["book"] ? bookChoice(path, filters, without) : h("span", { class: "note" }, books[0]?.title ?? ""),
    place.view === "question"
      ? null
      : h(
          "nav",
          { class: "days", "aria-label": "Days (UTC)" },
          ...DAYS.map((one) => h("a", { href: to(path, { ...without("since", "until"), days: one }), "aria-current": !isPinned && one === days ? "true" : undefined }, `${one} days`)),
        ),
    key() ? h("button", { type: "button", class: "quiet", click: forget }, "Forget the key") : null,
  );
}

function bookChoice(path: string, filters: Filters, without: (...names: string[]) => Filters): HTMLElement {
  const option = (value: string, words: string) => h("option", { value, selected: (filters["book"] ?? "") === value }, words);
  const gone = filters["book"] && !books.some((book) => book.book_id === filters["book"]) ? [option(filters["book"], filters["book"])] : [];
  const choice = h("select", { "aria-label": "Book" }, option("", "All books"), ...gone, ...books.map((book) => option(book.book_id, book.title)));
  choice.addEventListener("change", () => {
    location.hash = to(path, { ...without("book"), ...(choice.value ? { book: choice.value } : {}) });
  });
  return choice;
}

function locked(failed: Failed): void {
  leaving.abort();
  const form = keyForm(failed, show);
  root?.replaceChildren(h("main", { id: "main" }, form));
  form.querySelector("input")?.focus();
}

function forget(): void {
  keepKey("");
  books = [];
  location.hash = "#/";
  show();
}

window.addEventListener("hashchange", show);
show();
