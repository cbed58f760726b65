// The conversation: its head, its turns, and the field to ask by.

import type { BookNames } from "./answer/copies";
import type { LoadFragment } from "./answer/excerpt";
import { type Host, Turn } from "./answer/turn";
import { copyText, h, icon, ICONS } from "./dom";
import type { Looks, Memory } from "./memory";
import { firstWords, scopeButtons } from "./scopes";
import { type Citation, Failure, type Scope, SCOPES, type Selected, type Service, type Thread } from "./service";
import type { Strings, Words } from "./strings";

const MOST_QUESTION = 1000; // characters, as the service takes them

export interface PanelParts {
  words: Words;
  service: Service;
  memory: Memory;
  inline: boolean;
  title: string;
  names: BookNames;
  announcer: HTMLElement;
  close(): void;
  released(): void; // the selection was let go
}

/** A conversation with the book. */
export class Panel implements Host {
  readonly root: HTMLElement;
  readonly words: Words;
  readonly base: string;
  readonly #parts: PanelParts;
  readonly #field: HTMLTextAreaElement;
  readonly #send: HTMLButtonElement;
  readonly #turns: HTMLElement;
  readonly #hint: HTMLElement;
  readonly #chip = h("div", { class: "chip", hidden: true });
  #selected: Selected | null = null;
  #last: Turn | null = null;
  #running: AbortController | null = null;
  #restored = false;

  constructor(parts: PanelParts) {
    this.#parts = parts;
    this.words = parts.words;
    this.base = parts.service.base;
    const say = (name: keyof Strings): string => this.words.say(name);
    this.#hint = h("div", { class: "hint" }, h("p", {}, say("hint")));
    this.#turns = h("div", { class: "turns", role: "group", tabindex: "0", "aria-label": say("history") }, this.#hint);
    this.#field = h("textarea", {
      rows: "1",
      maxlength: String(MOST_QUESTION),
      "aria-label": say("question"),
      placeholder: say("placeholder"),
      enterkeyhint: "send",
      dir: "auto",
      onkeydown: (event: KeyboardEvent) => this.#onKey(event),
    });
    this.#send = h("button", { type: "submit", class: "send" });
    this.#showSend();
    const width = parts.inline ? null : this.#widthButton(); // of a panel that stands over the page
    this.root = h(
      "div",
      { class: "panel", role: parts.inline ? "region" : "dialog", "aria-labelledby": "title" },
      this.#head(width),
      this.#turns,
      h(
        "form",
        { class: "composer", onsubmit: (event: Event) => this.#onSubmit(event) },
        this.#chip,
        h("div", { class: "field" }, this.#field, this.#send),
      ),
    );
    if (width) new ResizeObserver(() => this.#showWidth(width)).observe(this.root);
  }

  focus(): void {
    this.#field.focus();
  }

  /** What the next question is about, if something is selected. */
  get selected(): Selected | null {
    return this.#selected;
  }

  /** Ask about a passage from now on, or no longer. */
  select(selected: Selected | null): void {
    this.#selected = selected;
    this.#chip.hidden = !selected;
    if (selected) this.#chip.replaceChildren(...this.#chipFor(selected));
    else this.#parts.released();
  }

  announce(text: string): void {
    this.#parts.announcer.append(h("p", {}, text));
  }

  /** Ask a question; one that is still being answered is stopped. */
  ask(question: string, selected: Selected | null): void {
    this.#running?.abort();
    const run = new AbortController();
    const turn = new Turn(this, question, selected);
    this.#running = run;
    this.#last = turn;
    this.#parts.memory.asking = { question, selected };
    this.#parts.announcer.replaceChildren();
    this.announce(this.words.say("looking"));
    this.#hint.remove();
    this.#turns.append(turn.root);
    this.#turns.scrollTop += turn.root.getBoundingClientRect().top - this.#turns.getBoundingClientRect().top;
    this.#showSend();
    if (selected && !sameSelection(selected, this.#selected)) this.select(selected);
    if (selected?.scope !== "selection")
      void this.#parts.service.search(question, run.signal).then((sections) => run.signal.aborted || turn.near(sections));
    void this.#answer(turn, run);
  }

  stop(): void {
    this.#running?.abort();
  }

  /** Show the conversation as the service kept it, once. */
  async restore(): Promise<void> {
    if (this.#restored) return;
    this.#restored = true;
    const session = this.#parts.memory.session;
    if (!session) return this.#suggest();
    try {
      const thread = await this.#parts.service.history(session);
      if (!this.#running) this.#showUnanswered(thread);
      if (thread) this.#show(thread);
      else if (!this.#last) this.#parts.memory.end();
    } catch (error) {
      if (error instanceof Failure) this.#notice(error);
    }
  }

  /** Offer questions that the book answers, while nothing was asked yet. */
  async #suggest(): Promise<void> {
    const questions = await this.#parts.service.suggestions(openPage(this.base));
    if (!questions.length || !this.#hint.isConnected) return;
    const button = (question: string): HTMLElement =>
      h("li", {}, h("button", { type: "button", dir: "auto", onclick: () => this.ask(question, null) }, question));
    this.#hint.replaceChildren(
      h("p", {}, this.words.say("hint")),
      h("ul", { class: "suggestions", "aria-label": this.words.say("suggestions") }, ...questions.map(button)),
    );
  }

  copy(text: string): Promise<void> {
    return copyText(text, this.root);
  }

  get names(): BookNames {
    return this.#parts.names;
  }

  fragment(citation: Citation): LoadFragment | null {
    return this.#parts.service.fragment(citation);
  }

  feedback(requestId: string, helpful: boolean): Promise<void> {
    return this.#parts.service.feedback(requestId, helpful);
  }

  keep(at: string, looks: Looks): void {
    this.#parts.memory.keep(at, looks);
  }

  async #answer(turn: Turn, run: AbortController): Promise<void> {
    try {
      const events = this.#parts.service.ask(turn.question, this.#parts.memory.begin(), turn.selected, run.signal);
      for await (const event of events) {
        if (run.signal.aborted) break;
        if (event.kind === "begun") turn.begun(event.requestId);
        else if (event.kind === "found") turn.found(event.sections);
        else if (event.kind === "content") turn.add(event.content);
        else {
          turn.answered(event.response);
          this.#parts.memory.asking = null;
        }
      }
      if (run.signal.aborted) turn.stopped();
    } catch (error) {
      if (run.signal.aborted) turn.stopped();
      else turn.failed(error instanceof Failure ? error : new Failure("broken"));
    }
    if (this.#running === run) this.#running = null;
    this.#showSend();
  }

  #onSubmit(event: Event): void {
    event.preventDefault();
    const question = this.#field.value.trim();
    if (this.#running && (!question || event instanceof SubmitEvent && event.submitter === this.#send)) return this.stop();
    if (!question) return this.#field.focus();
    this.#field.value = "";
    this.ask(question, this.#selected);
  }

  #onKey(event: KeyboardEvent): void {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (this.#field.value.trim()) {
      this.#running?.abort();
      this.#running = null;
      this.#field.form?.requestSubmit();
    }
  }

  #showSend(): void {
    const name = this.#running ? "stop" : "send";
    this.#send.replaceChildren(icon(ICONS[name]));
    this.#send.setAttribute("aria-label", this.words.say(name));
    this.#send.title = this.words.say(name);
    if (this.#last) this.#field.placeholder = this.words.say("placeholderNext");
  }

  #show(thread: Thread): void {
    const before = this.#turns.querySelector(".turn");
    let question = "";
    for (const message of thread.messages) {
      if (message.role === "user") question = message.content;
      else {
        const looks = this.#parts.memory.looks(message.timestamp);
        const turn = new Turn(this, question, looks?.selected ?? null);
        turn.restore(message, looks);
        this.#turns.insertBefore(turn.root, before);
        this.#last ??= turn;
      }
    }
    if (!this.#turns.querySelector(".turn")) return;
    this.#hint.remove();
    this.#showSend();
    if (!this.#running) this.#turns.scrollTop = this.#turns.scrollHeight;
  }

  /** Show what was asked when the page was left, to ask it again; unless the service has answered it since. */
  #showUnanswered(thread: Thread | null): void {
    const { asking } = this.#parts.memory;
    if (!asking || thread?.messages.at(-2)?.content === asking.question) return;
    const turn = new Turn(this, asking.question, asking.selected);
    this.#turns.append(turn.root);
    this.#last = turn;
    turn.stopped();
    this.#hint.remove();
  }

  #notice(failure: Failure): void {
    const said = this.words.say(failure.kind, { n: failure.wait, message: failure.details });
    const again = h("button", { type: "button", class: "button" }, this.words.say("retry"));
    const notice = h("div", { class: "notice" }, h("p", {}, said), again);
    again.addEventListener("click", () => {
      notice.remove();
      this.#restored = false;
      void this.restore();
    });
    this.#turns.prepend(notice);
  }

  /** Delete the conversation and begin a new one. */
  async #begin(): Promise<void> {
    this.stop();
    const { memory, service } = this.#parts;
    const session = memory.session;
    this.#parts.announcer.replaceChildren();
    try {
      if (session) await service.forget(session);
    } catch {
      this.#turns.querySelector(".notice")?.remove();
      this.#turns.append(h("p", { class: "notice" }, this.words.say("notDeleted")));
      this.announce(this.words.say("notDeleted"));
      this.#turns.scrollTop = this.#turns.scrollHeight;
      return;
    }
    memory.end();
    this.#last = null;
    this.select(null);
    this.#turns.replaceChildren(this.#hint);
    this.#field.placeholder = this.words.say("placeholder");
    this.announce(this.words.say("deleted"));
    this.focus();
  }

  #head(width: HTMLElement | null): HTMLElement {
    return h(
      "div",
      { class: "head" },
      h("h2", { id: "title" }, this.#parts.title),
      this.#headButton("fresh", "fresh", () => void this.#begin()),
      width,
      width && this.#headButton("close", "close", () => this.#parts.close()),
    );
  }

  get #isWide(): boolean {
    return this.root.clientWidth > 528;
  }

  #widthButton(): HTMLButtonElement {
    const button = this.#headButton("wider", "wide", () => {
      const wide = !this.#isWide;
      this.root.classList.toggle("wide", wide);
      this.root.classList.toggle("narrow", !wide);
    });
    button.classList.add("width");
    return button;
  }

  #showWidth(button: HTMLElement): void {
    const said = this.words.say(this.#isWide ? "narrower" : "wider");
    button.replaceChildren(icon(ICONS[this.#isWide ? "narrow" : "wide"]));
    button.setAttribute("aria-label", said);
    button.title = said;
  }

  #headButton(name: keyof Strings, drawing: keyof typeof ICONS, onclick: () => void): HTMLButtonElement {
    const said = this.words.say(name);
    return h("button", { type: "button", class: "icon-button", "aria-label": said, title: said, onclick }, icon(ICONS[drawing]));
  }

  #chipFor(selected: Selected): HTMLElement[] {
    const letGo = this.#headButton("clear", "close", () => {
      this.select(null);
      this.focus();
    });
    return [h("span", { class: "said", dir: "auto" }, firstWords(selected.text)), letGo, scopeButtons(this.words, selected, (scope) => this.#rescope(scope))];
  }

  /** Take another scope; what was just asked of this selection is asked again. */
  #rescope(scope: Scope): void {
    const before = this.#selected;
    if (!before || before.scope === scope) return;
    const selected = { ...before, scope };
    const at = SCOPES.indexOf(scope);
    this.select(selected);
    this.#chip.querySelectorAll<HTMLElement>(".scopes button")[at]?.focus();
    const last = this.#last;
    if (last?.selected?.text === before.text && !this.#field.value.trim()) this.ask(last.question, selected);
  }
}

function sameSelection(one: Selected, other: Selected | null): boolean {
  return one.text === other?.text && one.scope === other.scope;
}

/** The page of the book that is open on the service's own site: /read/BOOK/PAGE. */
function openPage(base: string): string {
  if (new URL(base, location.href).origin !== location.origin) return "";
  const found = /^\/read\/[^/]+\/(.+)$/.exec(location.pathname);
  return found?.[1] ? decodeURIComponent(found[1]) : "";
}
