// An answer to take along: as text, as Markdown, as a citation of its passages.

import { placeOf, safeUrl } from "../links";
import type { Citation } from "../service";
import type { Words } from "../strings";
import type { Entry, Excerpt } from "./excerpt";
import { SELECTED } from "./excerpt";
import { ELLIPSIS, type Piece } from "./structure";

/** What a citation says of the book, as far as the page knows it. */
export interface BookNames {
  title: string;
  author: string;
  year: string;
}

export interface Copied {
  question: string;
  excerpts: readonly Excerpt[];
  base: string;
  words: Words;
  names: BookNames;
  today: Date;
}

/** Write the answer as plain text with its sources, by numbers, below it. */
export function asText(copied: Copied): string {
  const text = copied.excerpts.map((excerpt) => joined(excerpt.entries, plainPiece)).join("\n\n");
  const notes = copied.excerpts.flatMap((excerpt) => notesOf(excerpt, copied));
  return `${copied.question}\n\n${text}\n\n${notes.join("\n")}\n`;
}

/** Write the answer as Markdown: the book's words as quotations, key sentences strong. */
export function asMarkdown(copied: Copied): string {
  const parts = copied.excerpts.map((excerpt) => {
    const text = joined(excerpt.entries, markdownPiece);
    const sources = sourcesOf(excerpt).map((one) => `— ${markdownLink(placeIn(one, copied), addressOf(one, copied))}`);
    const whole = `${text}\n\n${sources.join("  \n")}`;
    return excerpt.isOwn ? whole : whole.replace(/^/gm, "> ").replace(/^> $/gm, ">");
  });
  return `**${escaped(copied.question)}**\n\n${parts.join("\n\n")}\n`;
}

/** Cite the passages in the form of the American Psychological Association. */
export function asApa(copied: Copied): string {
  const { names, today } = copied;
  const day = today.toLocaleDateString("en-US", { year: "numeric", month: "long", day: "numeric" });
  const all = citedOf(copied).map((one) => {
    const title = one.section || one.chapter || names.title;
    const year = `(${names.year || "n.d."}).`;
    const opening = names.author ? `${dotted(names.author)} ${year} ${dotted(title)}` : `${dotted(title)} ${year}`;
    const whole = [one.chapter === title ? "" : one.chapter, names.title].filter(Boolean).join(", ");
    const url = pageOf(one, copied);
    return [opening, whole && `In ${dotted(whole)}`, url && `Retrieved ${day}, from ${url}`].filter(Boolean).join(" ");
  });
  return `${[...new Set(all)].join("\n\n")}\n`;
}

/** Cite the passages for BibTeX. */
export function asBibtex(copied: Copied): string {
  const { names, today } = copied;
  const keys = new Map<string, number>();
  const all = citedOf(copied).map((one) => {
    const fields = {
      author: names.author,
      title: one.section || one.chapter,
      booktitle: names.title,
      chapter: one.section ? one.chapter : "",
      year: names.year,
      url: pageOf(one, copied),
      urldate: today.toISOString().slice(0, 10),
    };
    const lines = Object.entries(fields).flatMap(([name, value]) => (value ? [`  ${name} = {${name === "url" ? value : latex(value)}}`] : []));
    return `@incollection{${keyFor(one, names, keys)},\n${lines.join(",\n")}\n}`;
  });
  return `${all.join("\n\n")}\n`;
}

/** Name an entry, each name once. */
function keyFor(one: Citation, names: BookNames, keys: Map<string, number>): string {
  const words = (text: string): string[] => text.normalize("NFKD").toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const key = [...words(names.title).slice(0, 3), ...words(one.section || one.chapter || "passage").slice(0, 5)].join("-");
  const count = (keys.get(key) ?? 0) + 1;
  keys.set(key, count);
  return count > 1 ? `${key}-${count}` : key;
}

/** Give one citation of each passage, the key one; none of a selection, which is no place in the book. */
function citedOf({ excerpts }: Copied): Citation[] {
  return excerpts.flatMap(sourcesOf).filter((one) => one.chunk_id !== SELECTED);
}

function sourcesOf(excerpt: Excerpt): Citation[] {
  const found = new Map<string, Citation>();
  const byInk = [...excerpt.entries].sort((one, other) => Number(other.isKey) - Number(one.isKey));
  for (const { citations } of byInk) for (const one of citations) if (!found.has(one.chunk_id)) found.set(one.chunk_id, one);
  return [...found.values()];
}

/** List the sources below a text: a passage by its numbers, other words by each quote. */
function notesOf(excerpt: Excerpt, copied: Copied): string[] {
  const numbers = excerpt.entries.flatMap((one) => one.numbers);
  if (!excerpt.isOwn) {
    const [first, last] = [numbers[0], numbers.at(-1)];
    const named = first === last ? `[${first}]` : `[${first}]–[${last}]`;
    return sourcesOf(excerpt).map((one) => note(first ? named : "", one, copied));
  }
  return excerpt.entries.flatMap(({ numbers, citations }) =>
    numbers.flatMap((number, at) => (citations[at] ? [note(`[${number}] “${citations[at].referenced_text ?? ""}”\n   `, citations[at], copied)] : [])),
  );
}

function note(named: string, one: Citation, copied: Copied): string {
  const url = addressOf(one, copied);
  return [`${named} ${placeIn(one, copied)}`.trim(), url].filter(Boolean).join("\n    ");
}

/** Join sentences as they are set: on in a paragraph, on the next line, or after an empty one. */
function joined(entries: readonly Entry[], write: (entry: Entry) => string): string {
  return entries.reduce((text, entry, at) => {
    const before = entries[at - 1]?.piece;
    return text + (before ? gapBetween(before, entry.piece) : "") + write(entry);
  }, "");
}

function gapBetween(before: Piece, piece: Piece): string {
  if (piece.joins) return " ";
  const row = (one: Piece): boolean => one.form === "row" || one.form === "head";
  const together = (piece.form === "item" && before.form === "item") || (piece.form === "row" && row(before));
  return together ? "\n" : "\n\n";
}

function plainPiece({ piece, numbers }: Entry): string {
  const lead = piece.form === "item" ? `${piece.mark || "-"} ` : "";
  const cut = piece.cut ? `\n${ELLIPSIS}` : "";
  const [text, left] = partCut(piece.text);
  return `${lead}${text}${numbers.map((n) => ` [${n}]`).join("")}${left}${cut}`;
}

function markdownPiece({ piece, isKey }: Entry): string {
  const { form, text, mark } = piece;
  const cut = piece.cut ? `\n\n${ELLIPSIS}` : "";
  if (form === "code") return `${fenceFor(text)}${mark}\n${text}\n${fenceFor(text)}${cut}`;
  if (form === "formula") return text;
  if (form === "row" || form === "head") return tableRow(text, form === "head") + cut;
  const [whole, left] = partCut(text);
  const strong = isKey && form !== "item" ? `**${escaped(whole)}**${left}` : escaped(text);
  return form === "item" ? `${mark.replace(")", ".") || "-"} ${strong}${cut}` : strong;
}

/** Part the mark of a cut from the sentence that it follows. */
function partCut(text: string): [text: string, cut: string] {
  return text.endsWith(` ${ELLIPSIS}`) ? [text.slice(0, -2), text.slice(-2)] : [text, ""];
}

function tableRow(text: string, isHead: boolean): string {
  const cells = text.split(" | ").map((cell) => escaped(cell).replaceAll("|", "\\|"));
  return `| ${cells.join(" | ")} |${isHead ? `\n|${" --- |".repeat(cells.length)}` : ""}`;
}

function fenceFor(code: string): string {
  const longest = Math.max(2, ...(code.match(/`+/g) ?? []).map((run) => run.length));
  return "`".repeat(longest + 1);
}

function escaped(text: string): string {
  return text.replace(/[\\`*_[\]<>]/g, "\\$&").replace(/\n/g, " ");
}

function markdownLink(name: string, url: string): string {
  return url ? `[${escaped(name)}](<${url.replace(/[<>]/g, encodeURIComponent)}>)` : escaped(name);
}

function latex(text: string): string {
  return text.replace(/[\\{}]/g, " ").replace(/[&%$#_]/g, "\\$&");
}

function dotted(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`;
}

function placeIn(one: Citation, { words }: Copied): string {
  return one.chunk_id === SELECTED ? words.say("yourSelection") : placeOf(one.chapter, one.section);
}

/** Give the address for a list of references: it outlasts edits of the book, or at least needs no words to look for. */
function pageOf(one: Citation, copied: Copied): string {
  return safeUrl(one.permalink, copied.base) ?? addressOf(one, copied).replace(/#?:~:.*$/, "");
}

function addressOf(one: Citation, { base }: Copied): string {
  return safeUrl(one.link ?? one.source_url, base) ?? "";
}
