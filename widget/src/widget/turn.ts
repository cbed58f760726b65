// One question and what became of it: a card of one of four kinds, which differ in form.

import { AnswerBody, clamp } from "./body";
import { h, icon, ICONS } from "./dom";
import { linkProps, placeOf, safeUrl } from "./links";
import { type ChatResponse, type Citation, type Content, Failure, type Section, type Selected } from "./service";
import type { Strings, Words } from "./strings";
import { keptPieces, missingParts, partOpening, type Piece, pieceOf, piecesOf } from "./structure";

type Kind = "looking" | "answer" | "caution" | "refused" | "failed" | "stopped";

/** What a turn asks of the panel that it stands in. */
export interface Host {
  readonly words: Words;
  readonly base: string;
  announce(text: string): void;
  ask(question: string, selected: Selected | null): void;
  copy(text: string): Promise<void>;
  feedback(requestId: string, helpful: boolean): Promise<void>;
}

const CHIP_WORDS = 60; // characters of a selection that are shown
let turns = 0;

/** A question with its answer, refusal or failure. */
export class Turn {
  readonly root: HTMLElement;
  readonly body: AnswerBody;
  requestId: string | null = null;
  kind: Kind = "looking";
  readonly #heading = h("h4", { class: "kind" });
  readonly #opening = h("div", { class: "opening" });
  readonly #foot = h("div", { class: "foot" });
  readonly #card = h("div", { class: "card looking" });
  readonly #nearest = h("div", { class: "nearest", hidden: true });
  #sections: Section[] = []; // that the search found
  #refusedTo: Section[] = []; // that a refusal named
  #told = 0; // sentences that were announced

  constructor(
    readonly host: Host,
    readonly question: string,
    readonly selected: Selected | null = null,
  ) {
    this.body = new AnswerBody(host.words, host.base);
    const id = `question-${++turns}`;
    this.#card.append(this.#heading, this.#opening, this.body.root, this.#foot);
    this.root = h(
      "article",
      { class: "turn", "aria-labelledby": id },
      h("h3", { class: "question", id, dir: "auto" }, question),
      selected && h("p", { class: "badge", dir: "auto" }, this.#badge(selected)),
      this.#card,
      this.#nearest,
    );
    this.#say("looking");
  }

  /** Show the nearest sections, unless the answer has already said better. */
  near(sections: Section[]): void {
    if (!sections.length) return;
    this.#sections = sections;
    if (this.kind === "answer" || this.kind === "caution") this.#foldNearest();
    else this.#showNearest(this.#merged(this.#refusedTo));
  }

  /** Name the sections that were found, where their addresses are not known. */
  found(names: string[]): void {
    this.#opening.replaceChildren();
    if (this.kind === "looking") this.#heading.replaceChildren(this.host.words.say("reading"));
    if (!this.#sections.length && names.length && this.selected?.scope !== "selection")
      this.#showNearest(names.map((section) => ({ chapter: "", section, url: "" })));
  }

  /** Add a verified sentence. */
  add(content: Content): void {
    const first = this.body.pieces.length === 0;
    const [opening, rest] = first ? partOpening(content.delta) : ["", content.delta];
    if (first) this.#become(opening ? "caution" : "answer", opening);
    this.body.add(pieceOf(rest), content.citations);
    this.#announce(opening);
  }

  /** Close with the whole answer; where the stream showed less or other, it is set anew. */
  answered(response: ChatResponse): void {
    if (!response.should_answer) return this.#refuse(response);
    const opening = response.disclaimer ?? "";
    this.#become(opening ? "caution" : "answer", opening);
    const rest = response.response.startsWith(opening) ? response.response.slice(opening.length).trimStart() : response.response;
    this.#setAnew(piecesOf(rest, response.sentences), response.citations);
    this.#announce(opening);
    const passages = new Set(this.body.citations.map((one) => one.chunk_id)).size;
    const level = response.confidence_level === "insufficient" ? "low" : response.confidence_level;
    const confidence = `${this.host.words.say(level)} · ${this.host.words.passages(passages)}`;
    this.#foot.replaceChildren(h("p", { class: "confidence" }, confidence), this.#actions());
    this.host.announce(confidence);
    this.#foldNearest();
  }

  /** Set an answer or refusal that the service kept. */
  restore(content: string, citations: Citation[]): void {
    if (!citations.length) {
      this.#become("refused");
      this.#opening.replaceChildren(h("p", {}, this.host.words.say("reason")));
      this.#foot.replaceChildren(h("div", { class: "actions" }, this.#button("again", () => this.#askAgain())));
      return;
    }
    const [opening, rest] = partOpening(content);
    this.#become(opening ? "caution" : "answer", opening);
    this.#setAnew(keptPieces(rest, citations), citations);
    this.#told = this.body.pieces.length;
    const passages = new Set(citations.map((one) => one.chunk_id)).size;
    this.#foot.replaceChildren(h("p", { class: "confidence" }, this.host.words.passages(passages)), this.#actions());
  }

  /** Close with what went wrong and what to do; the question is kept. */
  failed(failure: Failure): void {
    const partial = this.body.pieces.length > 0;
    const said = this.#sentence(failure);
    const retry = this.#button("retry", () => this.#askAgain(), "primary");
    if (partial) {
      this.#foot.replaceChildren(h("p", { class: "broken-off" }, icon(ICONS.failed), said), h("div", { class: "actions" }, retry));
    } else {
      this.#become("failed");
      this.#opening.replaceChildren(h("p", {}, said));
      this.#foot.replaceChildren(h("div", { class: "actions" }, retry));
    }
    this.host.announce(`${this.host.words.say("failed")}. ${said}`);
  }

  /** Close where the reader stopped it. */
  stopped(): void {
    const partial = this.body.pieces.length > 0;
    const said = this.host.words.say(partial ? "stoppedPart" : "stopped");
    if (!partial) {
      this.kind = "stopped";
      this.#card.className = "card stopped";
      this.#heading.replaceChildren(said);
      this.#opening.replaceChildren();
    }
    this.#foot.replaceChildren(partial && h("p", { class: "confidence" }, said) || "", h("div", { class: "actions" }, this.#button("again", () => this.#askAgain())));
    this.host.announce(said);
  }

  #refuse(response: ChatResponse): void {
    const { words } = this.host;
    const ofSelection = this.selected?.scope === "selection";
    this.body.clear();
    this.#become("refused");
    const reason = words.say(ofSelection ? "reasonSelection" : "reason");
    this.#heading.lastChild?.replaceWith(words.say(ofSelection ? "refusedSelection" : "refused"));
    this.#opening.replaceChildren(h("p", {}, reason));
    this.#foot.replaceChildren(ofSelection ? this.#widerScopes() : "");
    this.host.announce(`${this.#heading.textContent ?? ""}. ${reason}`);
    this.#refusedTo = response.nearest_sections ?? [];
    this.#showNearest(this.#merged(this.#refusedTo));
  }

  #widerScopes(): HTMLElement {
    const { selected } = this;
    const scopes = ["section", "book"] as const;
    return h(
      "div",
      { class: "actions" },
      ...scopes.map((scope) => this.#button(scope, () => selected && this.host.ask(this.question, { ...selected, scope }))),
    );
  }

  #become(kind: Kind, opening = ""): void {
    if (this.kind === kind && kind !== "caution") return;
    this.kind = kind;
    this.#card.className = `card ${kind}`;
    if (kind in ICONS) this.#heading.replaceChildren(icon(ICONS[kind as keyof typeof ICONS]), this.#kindName(opening));
    this.#opening.replaceChildren(...(opening ? [h("p", { dir: "auto" }, opening)] : []));
    for (const part of missingParts(opening))
      this.#opening.append(this.#button("nearestTo", () => this.host.ask(part, null), "", { part }));
  }

  #setAnew(pieces: Piece[], citations: readonly Citation[]): void {
    if (sameAnswer(this.body, pieces, citations)) return;
    this.body.clear();
    pieces.forEach((piece, index) =>
      this.body.add(piece, citations.filter((one) => clamp(one.sentence, pieces.length) === index)),
    );
  }

  /** Read out the sentences that were not read out yet, each once. */
  #announce(opening: string): void {
    const fresh = this.body.pieces.slice(this.#told).map((piece) => piece.text);
    if (!fresh.length) return;
    if (this.#told === 0) fresh.unshift(...[this.#kindName(opening), opening].filter(Boolean));
    this.#told = this.body.pieces.length;
    for (const sentence of fresh) this.host.announce(sentence);
  }

  /** Name the kind of card; an answer that is sound but leaves a part out is named for that. */
  #kindName(opening: string): string {
    const partial = missingParts(opening).length > 0 && /^The (book|selected text) does not say/.test(opening);
    return this.host.words.say(partial ? "partial" : (this.kind as keyof Strings));
  }

  #say(name: keyof Strings): void {
    this.#heading.replaceChildren(this.host.words.say(name));
  }

  #badge(selected: Selected): string {
    const name = ({ selection: "fromSelection", section: "fromSection", book: "fromBook" } as const)[selected.scope];
    return this.host.words.say(name, { words: firstWords(selected.text) });
  }

  #sentence(failure: Failure): string {
    if (failure.kind === "invalid" && this.selected?.scope === "section" && failure.told.startsWith("selected_text"))
      return this.host.words.say("noSection");
    return this.host.words.say(failure.kind, { n: failure.wait, message: failure.told });
  }

  #askAgain(): void {
    this.host.ask(this.question, this.selected);
  }

  #actions(): HTMLElement {
    const status = h("span", { class: "status" });
    const tell = (name: keyof Strings): void => {
      status.replaceChildren(this.host.words.say(name));
      this.host.announce(this.host.words.say(name));
    };
    const copy = this.#iconButton("copy", () => {
      this.host.copy(`${this.question}\n\n${this.body.plain()}`).then(() => tell("copied"), () => tell("notCopied"));
    });
    return h("div", { class: "actions" }, copy, ...(this.requestId ? this.#thumbs(this.requestId, tell) : []), status);
  }

  #thumbs(requestId: string, tell: (name: keyof Strings) => void): HTMLElement[] {
    const thumbs = (["good", "bad"] as const).map((name) => {
      const thumb = this.#iconButton(name, () => {
        this.host.feedback(requestId, name === "good").then(
          () => {
            for (const one of thumbs) one.setAttribute("aria-pressed", String(one === thumb));
            tell("thanks");
          },
          () => tell("notTaken"),
        );
      });
      thumb.setAttribute("aria-pressed", "false");
      return thumb;
    });
    return thumbs;
  }

  #button(name: keyof Strings, onclick: () => void, look = "", fill: Record<string, string> = {}): HTMLButtonElement {
    return h("button", { type: "button", class: `button ${look}`, onclick }, this.host.words.say(name, fill));
  }

  #iconButton(name: "copy" | "good" | "bad", onclick: () => void): HTMLButtonElement {
    const said = this.host.words.say(name);
    return h("button", { type: "button", class: "icon-button", "aria-label": said, title: said, onclick }, icon(ICONS[name]));
  }

  /** Give the sections of a refusal, with the lines that the search showed of them. */
  #merged(nearest: Section[]): Section[] {
    const known = new Map(this.#sections.map((one) => [placeOf(one.chapter, one.section), one]));
    const merged = nearest.map((one) => ({ ...one, text: known.get(placeOf(one.chapter, one.section))?.text }));
    return merged.length ? merged : this.#sections;
  }

  #showNearest(sections: Section[]): void {
    this.#nearest.hidden = !sections.length;
    this.#nearest.replaceChildren(h("p", { class: "label" }, this.host.words.say("nearest")), this.#sectionList(sections));
  }

  /** Fold the sections away under an answer, where it is the answer that counts. */
  #foldNearest(): void {
    this.#nearest.hidden = !this.#sections.length;
    const title = h("summary", {}, this.host.words.say("readOn"));
    this.#nearest.replaceChildren(h("details", {}, title, this.#sectionList(this.#sections)));
  }

  #sectionList(sections: Section[]): HTMLElement {
    return h("ul", {}, ...sections.map((one) => this.#sectionItem(one)));
  }

  #sectionItem(section: Section): HTMLElement {
    const url = safeUrl(section.url, this.host.base);
    const name = section.section || placeOf(section.chapter, "");
    return h(
      "li",
      { dir: "auto" },
      url ? h("a", linkProps(url), name) : h("span", {}, name),
      section.chapter && section.chapter !== name ? h("span", { class: "chapter" }, section.chapter) : null,
      section.text ? h("span", { class: "line" }, section.text) : null,
    );
  }
}

/** Give the first words of a selection, to know it again by. */
export function firstWords(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  if (line.length <= CHIP_WORDS) return `“${line}”`;
  const cut = line.slice(0, CHIP_WORDS);
  return `“${cut.slice(0, Math.max(cut.lastIndexOf(" "), CHIP_WORDS / 2))} …”`;
}

function sameAnswer(body: AnswerBody, pieces: Piece[], citations: readonly Citation[]): boolean {
  return (
    body.pieces.length === pieces.length &&
    body.citations.length === citations.length &&
    pieces.every((piece, index) => {
      const shown = body.pieces[index];
      return shown?.text === piece.text && shown.form === piece.form;
    })
  );
}
