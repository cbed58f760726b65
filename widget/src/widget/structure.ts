// An answer's text -> its sentences, each with the form that the book gives it.
//
// The service sets an answer as plain Markdown: prose in paragraphs, items and table rows on lines
// of their own, code in fences. A stream brings it sentence by sentence.

import type { Citation } from "./service";

export type Form = "prose" | "item" | "row" | "head" | "code" | "formula";

export interface Piece {
  form: Form;
  text: string;
  mark: string; // an item's number
  joins: boolean; // whether it goes on in the paragraph before it
}

const OPENING =
  /^(?:The book may cover this only in part; please check the quoted passage\.\s*)?(?:The (?:book|selected text) does not say: “[^”]*”(?:; “[^”]*”)*\.\s*)?/;
const FENCED = /^(`{3,})[^\n`]*\n([\s\S]*?)\n\1$/;
const ITEM = /^(-|\(?\w{1,4}[.)]) (?=\S)([\s\S]+)$/;
const HEAD = /^([^\n]+)\n---(?: \| ---)*$/;
const FORMULA = /^\$\$|\\[a-zA-Z]{2,}|[_^]\{/;
const ENDED = /[.!?:;…。！？]["'”’)\]»*_]*$/;

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
  const text = set.slice(gap.length).trimEnd();
  const joins = gap === " ";
  const fenced = FENCED.exec(text);
  if (fenced) return { form: "code", text: fenced[2] ?? "", mark: "", joins: false };
  const head = HEAD.exec(text);
  if (head) return { form: "head", text: head[1] ?? "", mark: "", joins: false };
  const item = joins ? null : ITEM.exec(text);
  if (item) return { form: "item", text: item[2] ?? "", mark: item[1] === "-" ? "" : (item[1] ?? ""), joins: false };
  if (!joins && text.includes(" | ") && !text.includes("\n")) return { form: "row", text, mark: "", joins: false };
  if (!joins && FORMULA.test(text) && !ENDED.test(text)) return { form: "formula", text, mark: "", joins: false };
  return { form: "prose", text, mark: "", joins };
}

/** Read a whole answer of which the sentences are known. */
export function piecesOf(text: string, sentences: readonly string[]): Piece[] {
  const ends = sentenceEnds(text, sentences);
  if (!ends) return sentences.map((sentence) => ({ ...pieceOf(sentence), form: "prose", text: sentence }));
  return ends.map((end, index) => {
    const piece = pieceOf(text.slice(ends[index - 1] ?? 0, end));
    const sentence = sentences[index] ?? "";
    return piece.text === sentence.trim() ? piece : { ...piece, form: "prose", text: sentence };
  });
}

/** Find where each sentence ends, with the fence or rule that closes it. */
function sentenceEnds(text: string, sentences: readonly string[]): number[] | null {
  const ends: number[] = [];
  let at = 0;
  for (const sentence of sentences) {
    const start = text.indexOf(sentence, at);
    if (start < 0) return null;
    const fence = /(`{3,})[^\n`]*\n$/.exec(text.slice(at, start))?.[1];
    at = start + sentence.length;
    const closing = fence ? `\n${fence}` : (/^\n---(?: \| ---)*(?=\n|$)/.exec(text.slice(at))?.[0] ?? "");
    if (text.startsWith(closing, at)) at += closing.length;
    ends.push(at);
  }
  return ends;
}

/** Read an answer of which only the text and the quotes were kept. */
export function keptPieces(text: string, citations: readonly Citation[]): Piece[] {
  const quotes = new Map<number, string[]>();
  for (const one of citations)
    quotes.set(one.sentence, [...(quotes.get(one.sentence) ?? []), one.referenced_text ?? ""]);
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
  if (!lines.every((line) => ITEM.test(line) || line.includes(" | ") || /^---/.test(line))) return [paragraph];
  return lines.reduce<string[]>((entries, line) => {
    if (/^---(?: \| ---)*$/.test(line) && entries.length) entries.push(`${entries.pop()}\n${line}`);
    else entries.push(line);
    return entries;
  }, []);
}

/** Part prose into sentences: where the next quote stands word for word it is the sentence. */
function proseOf(text: string, first: number, quotes: ReadonlyMap<number, string[]>): Piece[] {
  const pieces: Piece[] = [];
  for (let rest = text.trim(); rest; ) {
    const known = (quotes.get(first + pieces.length) ?? []).find((quote) => quote && rest.startsWith(quote));
    const sentence = known ?? nextSentence(rest);
    pieces.push({ form: "prose", text: sentence.trim(), mark: "", joins: pieces.length > 0 });
    rest = rest.slice(sentence.length).trimStart();
  }
  return pieces;
}

function nextSentence(text: string): string {
  if (!("Segmenter" in Intl)) return text;
  const [first] = new Intl.Segmenter(undefined, { granularity: "sentence" }).segment(text);
  return first?.segment || text;
}
