// The element <bythebook-ask>: a button in the corner with a panel, or the panel in its place.

import { h, icon, ICONS } from "../dom";
import { Memory } from "../memory";
import { Panel } from "../panel";
import { Service } from "../service";
import { type Strings, Words } from "../strings";
import { isShortcut, isTyping } from "./keys";
import { MOST, type Picked, placeBeside, selectedNow } from "./selection";
import { setHighlight, styleSheet } from "./sheets";
import { STYLES } from "./styles";
import { accentFor, themeOf, watchTheme } from "./theme";

const SETTLE_MS = 200; // until a selection that still changes is taken as made
const DOCKED = "(min-width: 1000px)"; // where an open panel leaves the page readable
const PHONE = "(max-width: 599px)";

let sheet: CSSStyleSheet | null = null;

/** Where the service is, unless the element says so. */
export const home = { service: location.origin };

/** Ask the book, on any page. */
export class BythebookAsk extends HTMLElement {
  static readonly observedAttributes = ["book", "key", "service", "mode", "lang", "dir", "strings", "label", "corner", "theme", "accent"];
  readonly #shadow = this.attachShadow({ mode: "open" });
  #panel: Panel | null = null;
  #root: HTMLElement | null = null;
  #launcher: HTMLElement | null = null;
  #about: HTMLButtonElement | null = null;
  #memory: Memory | null = null;
  #tooLong: HTMLElement | null = null;
  #picked: Picked | null = null;
  #before: HTMLElement | null = null; // what had the focus
  #leaving: AbortController | null = null;
  #timer = 0;
  #stale = false;

  connectedCallback(): void {
    sheet ??= styleSheet(STYLES);
    this.#shadow.adoptedStyleSheets = [sheet];
    this.#build();
    this.#listen();
  }

  disconnectedCallback(): void {
    this.#leaving?.abort();
    this.#panel?.stop();
    clearTimeout(this.#timer);
    setHighlight(null);
  }

  attributeChangedCallback(name: string): void {
    if (!this.isConnected || !this.#panel || this.#stale) return;
    if (name === "theme" || name === "accent") return this.#dress();
    this.#stale = true;
    queueMicrotask(() => {
      this.#stale = false;
      if (this.isConnected) this.#build();
    });
  }

  /** Whether the panel can be seen. */
  get isOpen(): boolean {
    return this.#inline || this.#panel?.root.hidden === false;
  }

  /** The text that the next question is about. */
  get selectedText(): string | null {
    return this.#panel?.selected?.text ?? null;
  }

  /** Open the panel; what is selected in the page comes with it. */
  open(): void {
    const picked = selectedNow(this, this.#within);
    if (picked && picked.length <= MOST && this.#selecting) this.#take(picked.text, picked.range);
    this.#show(true);
  }

  close(): void {
    if (!this.#panel || this.#inline || !this.isOpen) return;
    this.#panel.root.hidden = true;
    if (this.#launcher) this.#launcher.hidden = false;
    if (this.#memory) this.#memory.open = false;
    const back = this.#before?.isConnected ? this.#before : this.#launcher;
    (back === document.body ? this.#launcher : back)?.focus({ preventScroll: true });
    this.#before = null;
  }

  /** Ask a question, as if the reader had typed it. */
  ask(question: string): void {
    this.#show(true);
    this.#panel?.ask(question, this.#panel.selected);
  }

  /** Ask about a passage from now on. */
  askAbout(text: string): void {
    this.#take(text, null);
    this.#show(true);
  }

  get #inline(): boolean {
    return this.getAttribute("mode") === "inline";
  }

  get #selecting(): boolean {
    return this.getAttribute("selection") !== "off";
  }

  get #within(): string {
    return this.getAttribute("selection-root") ?? "";
  }

  #build(): void {
    this.#panel?.stop();
    const words = this.#words();
    const inline = this.#inline;
    const base = (this.getAttribute("service") || home.service).replace(/\/+$/, "");
    const book = this.getAttribute("book") ?? "";
    const memory = new Memory(base, book);
    const announcer = h("div", { class: "unseen", "aria-live": "polite", role: "status" });
    const panel = new Panel({
      words,
      service: new Service(base, book, this.getAttribute("key") ?? ""),
      memory,
      inline,
      title: this.getAttribute("label") || words.say("title"),
      names: { title: this.getAttribute("book-title") ?? "", author: this.getAttribute("author") ?? "", year: this.getAttribute("year") ?? "" },
      announcer,
      close: () => this.close(),
      released: () => setHighlight(null),
    });
    const open = inline || (memory.open && matchMedia(DOCKED).matches);
    panel.root.hidden = !open;
    this.#memory = memory;
    this.#panel = panel;
    this.#launcher = inline ? null : this.#makeLauncher(words, open);
    this.#about = this.#makeAbout(words);
    this.#tooLong = h("p", { class: "about too-long", role: "status", hidden: true });
    const corner = this.getAttribute("corner") === "start" ? "start" : "end";
    this.#root = h(
      "div",
      { class: `root ${inline ? "inline" : "floating"}`, lang: words.lang, dir: getComputedStyle(this.#speaker()).direction, "data-corner": corner },
      h("div", inline ? {} : { role: "complementary", "aria-label": words.say("open") }, this.#launcher, this.#about, this.#tooLong),
      panel.root,
      announcer,
    );
    this.#dress();
    this.#shadow.replaceChildren(this.#root);
    if (open) void panel.restore();
  }

  /** Put on the page's theme, and the accent that is asked for. */
  #dress(): void {
    const theme = themeOf(this);
    const accent = accentFor(this.getAttribute("accent") ?? "", theme);
    this.#root?.setAttribute("data-theme", theme);
    if (accent) this.#root?.style.setProperty("--accent", accent);
    else this.#root?.style.removeProperty("--accent");
  }

  #words(): Words {
    const lang = this.closest("[lang]")?.getAttribute("lang") || "en";
    let changes: Partial<Strings> = {};
    try {
      changes = JSON.parse(this.getAttribute("strings") || "{}") as Partial<Strings>;
    } catch {
      console.warn("bythebook-ask: `strings` is not JSON");
    }
    return new Words(lang, changes);
  }

  /** The element whose direction counts; `all: initial` hides the page's own from the host. */
  #speaker(): Element {
    return this.hasAttribute("dir") ? this : (this.parentElement ?? this);
  }

  #makeLauncher(words: Words, hidden: boolean): HTMLElement {
    return h(
      "button",
      { type: "button", class: "launcher", hidden, "aria-haspopup": "dialog", "aria-keyshortcuts": "/ Control+K Meta+K", onclick: () => this.open() },
      icon(ICONS.book),
      this.getAttribute("label") || words.say("open"),
    );
  }

  #makeAbout(words: Words): HTMLButtonElement {
    const keys = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘K" : "Ctrl K";
    const shown = this.getAttribute("shortcut") === "off" ? null : h("kbd", { "aria-hidden": "true" }, keys);
    return h(
      "button",
      {
        type: "button",
        class: "about",
        hidden: true,
        onpointerdown: (event: Event) => event.preventDefault(), // or the selection would be gone
        onclick: () => {
          if (this.#picked) this.#take(this.#picked.text, this.#picked.range);
          this.#show(true);
        },
      },
      words.say("askAbout"),
      shown,
    );
  }

  #show(focus: boolean): void {
    const panel = this.#panel;
    if (!panel) return;
    if (!this.isOpen) {
      this.#before = document.activeElement as HTMLElement | null;
      if (this.#before === this) this.#before = this.#launcher;
      panel.root.hidden = false;
      if (this.#launcher) this.#launcher.hidden = true;
      if (this.#memory) this.#memory.open = true;
      void panel.restore();
    }
    if (focus) panel.focus();
  }

  #take(text: string, range: Range | null): void {
    this.#panel?.select({ text, scope: "selection" });
    setHighlight(range);
    if (this.#about) this.#about.hidden = true;
    this.#picked = null;
  }

  #listen(): void {
    this.#leaving?.abort();
    this.#leaving = new AbortController();
    const { signal } = this.#leaving;
    let held = false; // a mouse button that still drags the selection
    watchTheme(() => this.#dress(), signal);
    document.addEventListener("keydown", (event) => this.#onKey(event), { signal });
    document.addEventListener("pointerdown", (event) => (held = event.pointerType === "mouse"), { signal, capture: true });
    document.addEventListener("pointerup", () => {
      held = false;
      this.#settle();
    }, { signal, capture: true });
    document.addEventListener("pointercancel", () => (held = false), { signal, capture: true });
    document.addEventListener("selectionchange", () => {
      if (!document.getSelection() || document.getSelection()?.isCollapsed) this.#offer(null);
      if (!held) this.#settle();
    }, { signal });
    for (const name of ["scroll", "resize"])
      addEventListener(name, () => this.#place(), { signal, capture: true, passive: true });
  }

  #settle(): void {
    if (!this.#selecting) return;
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => this.#offer(selectedNow(this, this.#within)), SETTLE_MS);
  }

  /** Offer to ask about what is selected. */
  #offer(picked: Picked | null): void {
    this.#picked = picked;
    const words = this.#panel?.words;
    if (picked && picked.length > MOST && words) this.#tooLong?.replaceChildren(words.say("tooLong", { most: words.count(MOST), n: words.count(picked.length) }));
    for (const one of [this.#about, this.#tooLong]) if (one) one.hidden = true;
    this.#place();
  }

  #place(): void {
    const button = (this.#picked?.length ?? 0) > MOST ? this.#tooLong : this.#about;
    if (!button || !this.#picked) return;
    button.hidden = false;
    const touch = matchMedia("(pointer: coarse)").matches;
    const at = placeBeside(this.#picked.range, button.offsetWidth, button.offsetHeight, touch);
    button.hidden = !at;
    if (at) button.style.setProperty("transform", `translate(${Math.round(at.x)}px, ${Math.round(at.y)}px)`);
  }

  #onKey(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.isComposing) return;
    if (event.key === "Escape" && !this.#inline && this.isOpen) {
      event.preventDefault();
      this.close();
    } else if (event.key === "Tab" && !event.shiftKey && this.#about && this.#goToAbout(this.#about)) event.preventDefault();
    else if (event.key === "Tab" && !this.#inline && this.isOpen && matchMedia(PHONE).matches) this.#holdFocus(event);
    else if (this.getAttribute("shortcut") !== "off" && isShortcut(event) && !isTyping(event)) {
      event.preventDefault();
      this.open();
    }
  }

  /** Let Tab lead from the text just selected to the button next to it, which stands elsewhere in the page's order. */
  #goToAbout(button: HTMLButtonElement): boolean {
    const here = document.activeElement;
    if (button.hidden || (here && here !== document.body && !this.#picked?.range.intersectsNode(here))) return false;
    button.focus();
    return true;
  }

  /** Keep the focus in a panel that covers the page. */
  #holdFocus(event: KeyboardEvent): void {
    const all = [...(this.#panel?.root.querySelectorAll<HTMLElement>("button, a[href], textarea, summary, [tabindex]") ?? [])];
    const stops = all.filter((one) => one.checkVisibility?.() ?? one.offsetParent);
    const [first, last] = [stops[0], stops[stops.length - 1]];
    const now = this.#shadow.activeElement;
    if (event.shiftKey ? now === first : now === last || !now) {
      event.preventDefault();
      (event.shiftKey ? last : first)?.focus();
    }
  }
}
