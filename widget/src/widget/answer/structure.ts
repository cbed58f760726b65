// An answer's text -> its sentences, each with the form that the book gives it.
//
// The service sets an answer as plain Markdown: prose in paragraphs, items and table rows on lines
// of their own, code in fences. A stream brings it sentence by sentence.

import type { Citation } from "../service";

export type Form = "prose" | "item" | "row" | "head" | "code" | "formula";

export interface Piece {
  form: Form;
  text: string;
  mark: string; // an item's number, the language of code
  joins: boolean; // whether it goes on in the paragraph before it
  cut: boolean; // whether the list, table or code goes on in the book
}

export const ELLIPSIS = "…";
export const CUT = /^(… )?([\s\S]*?)( …)?$/; // the marks of what was left out of a paragraph are not the book's
const OPENING =
  /^(?:The book may cover this only in part; please check the quoted passage\.\s*)?(?:The (?:book|selected text) does not say: “[^”]*”(?:; “[^”]*”)*\.\s*)?/;
const FENCED = /^(`{3,})([^\n`]*)\n([\s\S]*?)\n\1$/;
const ITEM = /^(-|\(?\w{1,4}[.)]) (?=\S)([\s\S]+)$/;
const RULE = /^---(?: \| ---)*$/;
const FORMULA = /^\$\$|\\[a-zA-Z]{2,}|[_^]\{/;
const COMMAND = /\\[a-zA-Z]+(?:\{[^{}]*\})?/g;
const WORDS = /[A-Za-z]{2,} [A-Za-z]{2,}/; // of a sentence, not of a formula
const ENDED = /[.!?:;…。！？]["'”’)\]»*_]*$/;
// What may stand before the first word of a quote: a cut, an item's mark, the opening of a fence.
const LEAD = /^\s*(?:…\s)?(?:(?:-|\(?\w{1,4}[.)]) |(`{3,})[^\n`]*\n\s*)?$/;

/** Part what the service opens a cautious or partial answer with from the answer itself. */
export function partOpening(text: string): [opening: string, rest: string] {
  const opening = OPENING.exec(text)?.[0] ?? "";
  return [opening.trim(), text.slice(opening.length)];
}

/** Give the questions that an opening says the book does not answer. */
export function missingParts(opening: string): string[] {
  const named = opening.slice(opening.indexOf("does not say:"));
  return opening.includes("does not say:") ? [...named.matchAll(/“([^”]+)”/g)].map((match) => match[1] ?? "") : [];
}

/** Read one sentence as it was set off; what stands before it parts it from the one before. */
export function pieceOf(set: string): Piece {
  const gap = /^\s*/.exec(set)?.[0] ?? "";
  const whole = set.slice(gap.length).trimEnd();
  const joins = gap === " ";
  const fenced = FENCED.exec(whole);
  if (fenced) return entry("code", fenced[3] ?? "", (fenced[2] ?? "").trim());
  const [first, rule, ...more] = whole.split("\n");
  if (first && rule && !more.length && RULE.test(rule)) return entry("head", first);
  const item = joins ? null : ITEM.exec(whole);
  if (item) return entry("item", item[2] ?? "", item[1] === "-" ? "" : item[1]);
  const row = entry("row", whole);
  if (!joins && row.text.includes(" | ") && !row.text.includes("\n")) return row;
  if (!joins && FORMULA.test(whole) && !(ENDED.test(whole) && WORDS.test(whole.replace(COMMAND, "")))) return entry("formula", whole);
  return { form: "prose", text: whole, mark: "", joins, cut: false };
}

/** Make a piece that stands on a line of its own; a line that only says that more follows is no part of its text. */
function entry(form: Form, whole: string, mark = ""): Piece {
  const cut = whole.endsWith(`\n${ELLIPSIS}`);
  return { form, text: cut ? whole.slice(0, -ELLIPSIS.length - 1) : whole, mark, joins: false, cut };
}

/** Read a whole answer of which the sentences are known. */
export function piecesOf(text: string, sentences: readonly string[]): Piece[] {
  const ends = findEnds(text, sentences.map((sentence) => [sentence]));
  if (!ends) return sentences.map((sentence) => prose(sentence, false));
  return piecesUpTo(text, ends).map((piece, index) => {
    const sentence = (sentences[index] ?? "").trim();
    const shown = piece.cut ? `${piece.text}\n${ELLIPSIS}` : piece.text;
    return shown === sentence ? piece : prose(sentence, piece.joins);
  });
}

/** Read an answer of which only the text and the quotes were kept. */
export function keptPieces(text: string, citations: readonly Citation[]): Piece[] {
  const quotes: string[][] = [];
  for (const one of citations) (quotes[one.sentence] ??= []).push(one.referenced_text ?? "");
  const ends = Array.from(quotes, Boolean).every(Boolean) ? findEnds(text, quotes, LEAD) : null;
  if (ends && !text.slice(ends.at(-1)).trim()) return piecesUpTo(text, ends);
  return guessPieces(text, quotes);
}

function prose(text: string, joins: boolean): Piece {
  return { form: "prose", text, mark: "", joins, cut: false };
}

function piecesUpTo(text: string, ends: readonly number[]): Piece[] {
  return ends.map((end, index) => pieceOf(text.slice(ends[index - 1] ?? 0, end)));
}

/** Find where each sentence ends, given the words it is made of, with the fence, rule or cut that closes it. */
function findEnds(text: string, sentences: readonly string[][], lead: RegExp | null = null): number[] | null {
  const ends: number[] = [];
  let at = 0;
  for (const words of sentences) {
    const begun = at;
    let first = -1;
    for (const part of words) {
      const start = part ? text.indexOf(part, at) : -1;
      if (start < 0) return null;
      if (first < 0) first = start;
      at = start + part.length;
    }
    const before = text.slice(begun, first);
    if (lead && !lead.test(before)) return null;
    at += closingOf(text.slice(at), /(`{3,})[^\n`]*\n\s*$/.exec(before)?.[1]);
    ends.push(at);
  }
  return ends;
}

/** Measure what closes a sentence: the mark of a cut, then a fence or the rule under a head row. */
function closingOf(rest: string, fence: string | undefined): number {
  const cut = /^[ \n]…(?=\s|$)/.exec(rest)?.[0] ?? "";
  const after = rest.slice(cut.length);
  if (fence) return after.startsWith(`\n${fence}`) ? cut.length + 1 + fence.length : cut.length;
  return cut.length + (/^\n---(?: \| ---)*(?=\n|$)/.exec(after)?.[0].length ?? 0);
}

/** Read an answer in words of its own, of which sentences are not known: by paragraphs, lines and full stops. */
function guessPieces(text: string, quotes: readonly string[][]): Piece[] {
  const pieces: Piece[] = [];
  for (const paragraph of paragraphsOf(text)) {
    const lines = paragraph.startsWith("```") ? [paragraph] : entriesOf(paragraph);
    for (const line of lines) {
      const piece = pieceOf(`\n\n${line}`);
      if (piece.form === "prose") pieces.push(...proseOf(line, pieces.length, quotes));
      else pieces.push(piece);
    }
  }
  return pieces;
}

/** Part a text at empty lines, but not within a fence. */
function paragraphsOf(text: string): string[] {
  return (text.match(/(`{3,})[^\n`]*\n[\s\S]*?\n\1(?=\n|$)|(?:(?!\n\n)[\s\S])+/g) ?? [])
    .map((part) => part.replace(/^\n+|\s+$/g, ""))
    .filter(Boolean);
}

/** Part a paragraph of items or rows into its lines; the rule under a head row stays with it. */
function entriesOf(paragraph: string): string[] {
  const lines = paragraph.split("\n");
  if (!lines.every((line) => ITEM.test(line) || line.includes(" | ") || RULE.test(line))) return [paragraph];
  return lines.reduce<string[]>((entries, line) => {
    if (RULE.test(line) && entries.length) entries.push(`${entries.pop()}\n${line}`);
    else entries.push(line);
    return entries;
  }, []);
}

/** Part prose into sentences: where the next quote stands word for word it is the sentence. */
function proseOf(text: string, first: number, quotes: readonly string[][]): Piece[] {
  const pieces: Piece[] = [];
  for (let rest = text.trim(); rest; ) {
    const known = (quotes[first + pieces.length] ?? []).find((quote) => quote && rest.startsWith(quote));
    const sentence = known ?? nextSentence(rest);
    pieces.push(prose(sentence.trim(), pieces.length > 0));
    rest = rest.slice(sentence.length).trimStart();
  }
  return pieces;
}

function nextSentence(text: string): string {
  if (!("Segmenter" in Intl)) return text;
  const [first] = new Intl.Segmenter(undefined, { granularity: "sentence" }).segment(text);
  return first?.segment || text;
}
