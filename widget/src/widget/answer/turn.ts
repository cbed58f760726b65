// One question and what became of it: a card of one of four kinds, which differ in form.

import { h, icon, ICONS } from "../dom";
import type { Looks, OwnAnswer } from "../memory";
import { firstWords } from "../scopes";
import { type ChatResponse, type Citation, citationsOf, type Content, Failure, type Message, type Scope, type Section, type Selected } from "../service";
import type { Strings } from "../strings";
import { answerActions } from "./actions";
import { AnswerBody, clamp } from "./body";
import type { BookNames } from "./copies";
import type { ExcerptHost } from "./excerpt";
import { mergedSections, sectionList } from "./sections";
import { keptPieces, missingParts, partOpening, type Piece, pieceOf, piecesOf } from "./structure";
import { levelOf, reasonOf, refusalIn } from "./verdict";

type Kind = "looking" | "answer" | "caution" | "refused" | "failed" | "stopped";

/** What a turn asks of the panel that it stands in. */
export interface Host extends ExcerptHost {
  readonly names: BookNames;
  ask(question: string, selected: Selected | null): void;
  feedback(requestId: string, helpful: boolean): Promise<void>;
  keep(at: string, looks: Looks): void;
}

let turns = 0;

/** A question with its answer, refusal or failure. */
export class Turn {
  readonly root: HTMLElement;
  readonly body: AnswerBody;
  kind: Kind = "looking";
  readonly #heading = h("h4", { class: "kind" });
  readonly #opening = h("div", { class: "opening" });
  readonly #foot = h("div", { class: "foot" });
  readonly #card = h("div", { class: "card looking" });
  readonly #nearest = h("div", { class: "nearest", hidden: true });
  #looks: Looks = { found: [], nearest: [] };
  #at: string | null = null; // when the service closed it
  #announced = 0; // sentences that were announced

  constructor(
    readonly host: Host,
    readonly question: string,
    readonly selected: Selected | null = null,
  ) {
    this.body = new AnswerBody(host);
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

  /** Begin under the id by which the service knows the question. */
  begun(requestId: string | null): void {
    this.#looks.requestId = requestId ?? undefined;
  }

  /** Show the nearest sections, unless the answer has already said better. */
  near(sections: Section[]): void {
    if (!sections.length) return;
    this.#looks.found = sections;
    if (!this.#isAnswer) this.#showNearest();
    else if (this.#at) this.#foldNearest(); // while the answer grows there is no place for it
    this.#keep();
  }

  /** Name the sections that were found, where their addresses are not known. */
  found(names: string[]): void {
    this.#opening.replaceChildren();
    if (this.kind === "looking") this.#heading.replaceChildren(this.host.words.say("reading"));
    if (!this.#looks.found.length && names.length && this.selected?.scope !== "selection")
      this.#showNearest(names.map((section) => ({ chapter: "", section, url: "" })));
  }

  /** Add a verified sentence. */
  add(content: Content): void {
    const first = this.body.pieces.length === 0;
    const [opening, rest] = first ? partOpening(content.delta) : ["", content.delta];
    if (first) this.#become(opening ? "caution" : "answer", opening);
    this.#nearest.hidden = true; // it would be pushed down by every sentence
    this.body.add(pieceOf(rest), content.citations);
    this.#announce(opening);
  }

  /** Close with the whole answer; where the stream showed less or other, it is set again. */
  answered(response: ChatResponse): void {
    this.#at = response.timestamp;
    if (this.selected) this.#looks.selected = this.selected;
    if (response.should_answer) this.#answer(response);
    else this.#refuse(response);
    this.#keep();
  }

  /** Set an answer or refusal that the service kept, as it looked if that is known. */
  restore(message: Message, looks: Looks | null): void {
    this.#at = message.timestamp;
    if (looks) this.#looks = looks;
    const citations = citationsOf(message.citations);
    if (!citations.length) return this.#showRefusal();
    if (looks?.answer) this.#setWhole(looks.answer);
    else {
      const [opening, rest] = partOpening(message.content);
      this.#become(opening ? "caution" : "answer", opening);
      this.#setAnew(keptPieces(rest, citations), citations);
    }
    this.#announced = this.body.pieces.length;
    this.#close();
  }

  /** Close with what went wrong and what to do; the question is kept. */
  failed(failure: Failure): void {
    const partial = this.body.pieces.length > 0;
    const said = this.#sentence(failure);
    this.body.close();
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
    this.body.close();
    if (!partial) {
      this.kind = "stopped";
      this.#card.className = "card stopped";
      this.#heading.replaceChildren(said);
      this.#opening.replaceChildren();
    }
    this.#foot.replaceChildren(partial && h("p", { class: "confidence" }, said) || "", h("div", { class: "actions" }, this.#button("again", () => this.#askAgain())));
    this.host.announce(said);
  }

  #answer(response: ChatResponse): void {
    const { response: text, sentences, citations, disclaimer } = response;
    this.#looks.level = levelOf(response);
    if (this.selected?.scope === "selection") this.#looks.answer = { response: text, sentences, citations, disclaimer };
    this.#setWhole(response);
    this.#announce(disclaimer ?? "");
    this.host.announce(this.#close());
  }

  #setWhole(answer: OwnAnswer): void {
    const opening = answer.disclaimer ?? "";
    const rest = answer.response.startsWith(opening) ? answer.response.slice(opening.length).trimStart() : answer.response;
    this.#become(opening ? "caution" : "answer", opening);
    this.#setAnew(piecesOf(rest, answer.sentences), answer.citations);
  }

  /** Put under an answer how good it is and what can be done with it. */
  #close(): string {
    const { words } = this.host;
    this.body.close();
    const passages = words.passages(new Set(this.body.citations.map((one) => one.chunk_id)).size);
    const confidence = this.#looks.level ? `${words.say(this.#looks.level)} · ${passages}` : passages;
    this.#foot.replaceChildren(h("p", { class: "confidence" }, confidence), this.#actions());
    this.#foldNearest();
    return confidence;
  }

  #refuse(response: ChatResponse): void {
    this.#looks.reason = reasonOf(response, this.selected);
    this.#looks.nearest = response.nearest_sections ?? [];
    this.#showRefusal();
    this.host.announce(`${this.#heading.textContent ?? ""}. ${this.#opening.textContent ?? ""}`);
  }

  #showRefusal(): void {
    const { words } = this.host;
    const { heading, wider } = refusalIn(this.selected?.scope ?? "book");
    const { reason } = this.#looks;
    this.body.clear();
    this.#become("refused");
    this.#heading.lastChild?.replaceWith(words.say(heading));
    this.#opening.replaceChildren(h("p", {}, words.say(reason ?? "reason")));
    if (!reason) this.#foot.replaceChildren(h("div", { class: "actions" }, this.#button("again", () => this.#askAgain())));
    else this.#foot.replaceChildren(wider.length ? this.#askWider(wider) : "");
    this.#showNearest();
  }

  /** Have the browser keep how it looks, once the service keeps what it says. */
  #keep(): void {
    if (this.#at) this.host.keep(this.#at, this.#looks);
  }

  #askWider(scopes: Scope[]): HTMLElement {
    const { selected } = this;
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
    const fresh = this.body.pieces.slice(this.#announced).map((piece) => piece.text);
    if (!fresh.length) return;
    if (this.#announced === 0) fresh.unshift(...[this.#kindName(opening), opening].filter(Boolean));
    this.#announced = this.body.pieces.length;
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
    if (failure.kind === "invalid" && this.selected?.scope === "section" && failure.details.startsWith("selected_text"))
      return this.host.words.say("noSection");
    return this.host.words.say(failure.kind, { n: failure.wait, message: failure.details });
  }

  #askAgain(): void {
    this.host.ask(this.question, this.selected);
  }

  #actions(): HTMLElement {
    const { requestId, helpful } = this.#looks;
    return answerActions(this.host, {
      copied: () => ({ question: this.question, excerpts: this.body.excerpts, base: this.host.base, words: this.host.words, names: this.host.names, today: new Date() }),
      requestId,
      helpful,
      rated: (helpful) => {
        this.#looks.helpful = helpful;
        this.#keep();
      },
    });
  }

  #button(name: keyof Strings, onclick: () => void, look = "", fill: Record<string, string> = {}): HTMLButtonElement {
    return h("button", { type: "button", class: `button ${look}`, onclick }, this.host.words.say(name, fill));
  }

  #showNearest(sections = mergedSections(this.#looks.nearest, this.#looks.found)): void {
    this.#nearest.hidden = !sections.length;
    this.#nearest.replaceChildren(h("p", { class: "label" }, this.host.words.say("nearest")), sectionList(sections, this.host.base));
  }

  get #isAnswer(): boolean {
    return this.kind === "answer" || this.kind === "caution";
  }

  /** Fold the sections away under an answer, where it is the answer that counts. */
  #foldNearest(): void {
    const { found } = this.#looks;
    this.#nearest.hidden = !found.length;
    const title = h("summary", {}, this.host.words.say("readOn"));
    this.#nearest.replaceChildren(h("details", {}, title, sectionList(found, this.host.base)));
  }
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
