// The questions behind a number, page by page.

import { bookLink, type Child, h } from "./dom";
import type { Base } from "./overview";
import { panel } from "./panel";
import { type Filters, to } from "./places";
import { read } from "./service";
import type { Question, Questions, Refusal } from "./types";
import { count, duration, fullDay, kindName, kindOf, moment, place, plural, score } from "./words";

const PAGE = 50;
const TITLES: Readonly<Record<string, string>> = { success: "answered", refused: "refused", error: "failed" };

export function questionsView(filters: Filters, base: Base): HTMLElement {
  const skip = Number(filters["skip"]) || 0;
  return h(
    "div",
    { class: "single" },
    h("p", { class: "trail" }, h("a", { href: to("", { ...keep(filters, ["days", "book"]) }) }, "← Overview")),
    panel<Questions>({
      ...base,
      id: "questions",
      title: "Questions",
      waiting: "Reading the questions…",
      load: (signal) => read<Questions>("questions", { ...filters, most: String(PAGE), skip: String(skip) }, signal),
      csv: { table: "questions", filters: keep(filters, Object.keys(filters).filter((name) => name !== "skip")) },
      show: (found) => ({ plot: shown(found, filters, skip) }),
    }),
  );
}

function shown(found: Questions, filters: Filters, skip: number): HTMLElement {
  const last = Math.min(skip + found.questions.length, found.total);
  const range = found.total ? `${count(skip + 1)}–${count(last)} of ${plural(found.total, "question")}, newest first` : "None";
  return h(
    "div",
    {},
    chips(filters, found),
    h("p", { class: "note", role: "status" }, `${range}. Times are UTC.`),
    found.questions.length ? rows(found.questions, filters) : h("p", { class: "empty" }, "No question fits. Take a filter away, or go back to the overview."),
    h(
      "nav",
      { class: "row", "aria-label": "Pages" },
      skip > 0 ? h("a", { href: to("questions", { ...filters, skip: String(Math.max(skip - PAGE, 0)) }), rel: "prev" }, "← Newer") : null,
      last < found.total ? h("a", { href: to("questions", { ...filters, skip: String(skip + PAGE) }), rel: "next" }, "Older →") : null,
    ),
  );
}

/** What was filtered by, in words, each with a way to take it away. */
function chips(filters: Filters, found: Questions): HTMLElement {
  const { period } = found;
  const words = period.since === period.until ? fullDay(period.since) : `${fullDay(period.since)} to ${fullDay(period.until)}`;
  const named: [string, string, readonly string[]][] = [];
  if (filters["since"] || filters["until"]) named.push([words, "days", ["since", "until"]]);
  for (const [name, describe] of Object.entries(DESCRIPTIONS)) {
    const value = filters[name];
    if (value && !(name === "status" && filters["refusal_type"])) {
      named.push([describe(value), name, name === "refusal_type" ? ["status", "refusal_type"] : [name]]);
    }
  }
  return h(
    "ul",
    { class: "chips" },
    named.length ? null : h("li", {}, words),
    ...named.map(([description, , names]) =>
      h(
        "li",
        {},
        description,
        " ",
        h("a", { href: to("questions", keep(filters, Object.keys(filters).filter((name) => name !== "skip" && !names.includes(name)))), "aria-label": `Take away: ${description}` }, "×"),
      ),
    ),
  );
}

const DESCRIPTIONS: Readonly<Record<string, (value: string) => string>> = {
  status: (value) => TITLES[value] ?? value,
  refusal_type: (value) => kindName(value as Refusal) ?? value,
  mode: (value) => (value === "standard_rag" ? "asked of the book" : "asked of a selection"),
  helpful: (value) => (value === "yes" ? "readers said it helped" : "readers said it did not help"),
  chapter: (value) => `quotes ${value}`,
  section: (value) => `quotes ${value}`,
  score_from: (value) => `score from ${value}`,
  score_to: (value) => `score below ${value}`,
  took_from: (value) => `took ${duration(Number(value) || 0)} or more`,
  like: () => "one group of unanswered questions",
};

function rows(questions: readonly Question[], filters: Filters): HTMLElement {
  const head = ["Asked", "Question", "What became of it", "Section", "Score", "Took", "Reader"];
  return h(
    "table",
    { class: "rows", role: "table" },
    h("caption", { class: "hidden" }, "Questions, newest first"),
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, ...head.map((name) => h("th", { scope: "col", role: "columnheader" }, name)))),
    h(
      "tbody",
      { role: "rowgroup" },
      ...questions.map((one) =>
        h("tr", { role: "row" }, ...cells(one, filters).map((cell, place) => h("td", { role: "cell", "data-label": head[place] ?? "", class: `c${place}` }, cell))),
      ),
    ),
  );
}

function cells(one: Question, filters: Filters): Child[] {
  const kind = kindOf(one.status, one.refusal_type);
  const said = one.helpful === null ? "–" : one.helpful ? "helped" : "did not help";
  return [
    h("time", { datetime: one.asked_at }, moment(one.asked_at)),
    h("a", { class: "asked", href: to(`question/${one.query_id}`, keep(filters, ["days", "book"])), dir: "auto" }, one.question),
    h("span", { class: "kind" }, h("span", { class: `swatch ${kind}`, "aria-hidden": "true" }), kindName(kind), one.mode === "selected_text_only" ? " (selection)" : null),
    sections(one),
    one.score === null ? "–" : score(one.score),
    duration(one.took_ms),
    one.reason ? h("span", { dir: "auto" }, `${said}: ${one.reason}`) : said,
  ];
}

function sections(one: Question): Child {
  if (one.cited.length) return h("span", { class: "place" }, one.cited.map((cited) => place(cited.chapter, cited.section)).join("; "));
  return one.nearest ? h("span", {}, "nearest: ", bookLink(one.nearest.url, place(one.nearest.chapter, one.nearest.section))) : "–";
}

function keep(filters: Filters, names: readonly string[]): Filters {
  return Object.fromEntries(names.flatMap((name) => (filters[name] ? [[name, filters[name]]] : [])));
}
