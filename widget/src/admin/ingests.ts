// How the books were last read, and how much of them is in the index.

import { meter } from "./charts";
import { h } from "./dom";
import { type Part, table } from "./panel";
import { read } from "./service";
import type { Ingest, Ingests } from "./types";
import { count, fineShare, moment, plural } from "./words";

export function ingestPart(base: Pick<Part<unknown>, "live" | "first" | "locked">): Part<Ingests> {
  return {
    ...base,
    id: "ingests",
    title: "How the books were read",
    note: "Each book’s last ingest.",
    waiting: "Reading the reports…",
    load: (signal) => read<Ingests>("ingests", {}, signal),
    csv: { table: "ingests", filters: {} },
    show: ({ books }) =>
      books.length
        ? { plot: h("ul", { class: "books" }, ...books.map(book)), table: booksTable(books) }
        : { plot: h("p", { class: "empty" }, "There is no book yet. Ingest one: ", h("code", {}, "bythebook ingest PATH")) },
  };
}

function book(one: Ingest): HTMLElement {
  const covered = one.coverage === null ? "its report cannot be read; ingest it again" : `${fineShare(one.coverage)} of the visible text is in the index`;
  return h(
    "li",
    {},
    h("h3", {}, h("a", { href: `/read/${encodeURIComponent(one.book_id)}` }, one.title)),
    one.coverage === null ? null : meter(one.coverage, 1),
    h("p", {}, covered),
    h(
      "p",
      { class: "note" },
      `${plural(one.documents, "document")}, ${plural(one.chunks, "chunk")}`,
      one.added === null ? null : ` (${count(one.added)} new, ${count(one.kept ?? 0)} kept, ${count(one.removed ?? 0)} removed)`,
      ` · ${moment(one.published_at)} UTC`,
      one.seconds === null ? null : ` · ${one.seconds.toFixed(1)} s`,
    ),
    details(one),
  );
}

function details(one: Ingest): HTMLElement | null {
  const lists = [
    list("Left out", one.left_out.map((part) => `${part.reason}: ${plural(part.characters, "character")}`)),
    list("Skipped", one.skipped.map((part) => `${part.name}: ${part.reason}`)),
    list("Notes", one.warnings),
    list("Pages that lack most", one.least_covered.map((page) => `${page.title}: ${fineShare(page.coverage)}`)),
    one.broken_links ? h("p", {}, plural(one.broken_links, "broken link"), " (", h("code", {}, `bythebook books report ${one.book_id}`), ")") : null,
  ].filter((part) => part !== null);
  return lists.length ? h("details", {}, h("summary", {}, "What is not in the index, and why"), ...lists) : null;
}

function list(title: string, lines: readonly string[]): HTMLElement | null {
  return lines.length ? h("div", {}, h("h4", {}, title), h("ul", {}, ...lines.map((line) => h("li", { dir: "auto" }, line)))) : null;
}

function booksTable(books: readonly Ingest[]): HTMLElement {
  return table(
    "How the books were read",
    ["Book", "Published (UTC)", "Documents", "Chunks", "In the index", "Skipped", "Broken links"],
    books.map((one) => [
      one.title,
      moment(one.published_at),
      count(one.documents),
      count(one.chunks),
      one.coverage === null ? "–" : fineShare(one.coverage),
      count(one.skipped.length),
      count(one.broken_links),
    ]),
  );
}
