// One question, and what the book as it is now has on it.

import { meter } from "./charts";
import { bookLink, h } from "./dom";
import type { Base } from "./overview";
import { panel } from "./panel";
import { type Filters, period, questions, to } from "./places";
import { read } from "./service";
import type { Passages } from "./types";
import { kindName, kindOf, moment, place, score } from "./words";

export function questionView(id: string, filters: Filters, base: Base): HTMLElement {
  return h(
    "div",
    { class: "single" },
    h("p", { class: "trail" }, h("a", { href: to("", period(filters)) }, "← Overview")),
    panel<Passages>({
      ...base,
      id: "passages",
      title: "What the book has on this",
      note: "Looked up just now, in the book as it is; nothing of it is logged.",
      waiting: "Looking the question up in the book…",
      load: (signal) => read<Passages>(`questions/${encodeURIComponent(id)}/passages`, {}, signal),
      show: (found) => ({ plot: shown(found, filters) }),
    }),
  );
}

function shown(found: Passages, filters: Filters): HTMLElement {
  const { question } = found;
  const then = kindName(kindOf(question.status, question.refusal_type)).toLowerCase();
  const now = found.answered ? "Answered now" : `Now: ${found.refusal_type ? kindName(found.refusal_type).toLowerCase() : "refused"}`;
  const like = question.status === "refused" && question.mode === "standard_rag";
  return h(
    "div",
    {},
    h("blockquote", { dir: "auto" }, question.question),
    h(
      "p",
      { class: "note" },
      `Asked ${moment(question.asked_at)} UTC, then ${then}. `,
      h("strong", { class: found.answered ? "yes" : "" }, now),
      found.answered && question.status === "refused" ? ": the book has changed since, or other words of it are found." : ".",
      like ? " " : null,
      like ? h("a", { href: questions(filters, { like: question.query_id }) }, "All like it") : null,
    ),
    found.passages.length ? h("ol", { class: "passages" }, ...found.passages.map((one) => passage(one, found))) : h("p", { class: "empty" }, "Nothing in the book is anywhere near."),
  );
}

function passage(one: Passages["passages"][number], { boundary, refuse_below }: Passages): HTMLElement {
  const side = one.score >= boundary ? "over the boundary" : one.score >= refuse_below ? "below the boundary" : "too far to be read";
  return h(
    "li",
    {},
    h("div", { class: "row" }, bookLink(one.url, place(one.chapter, one.section)), h("span", { class: "note" }, `${score(one.score)}, ${side}`)),
    meter(one.score, 1, one.score >= boundary ? "answered" : "low_relevance"),
    h("p", { class: "text", dir: "auto" }, one.text),
  );
}
