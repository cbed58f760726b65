// "Search in this book": what is nearest appears while the reader still types.

const PAUSE_MS = 200;
const LEAST = 2;
const SECTIONS = 6;

interface Found {
  readonly chapter: string;
  readonly section: string;
  readonly reader_url: string;
  readonly text: string;
}

/** Show the nearest sections below the box; Enter still leads to the page of results. */
export function findWhileTyping(): void {
  const form = document.querySelector<HTMLFormElement>("form.find");
  const box = form?.querySelector("input");
  if (form && box) new Finder(form, box).listen();
}

class Finder {
  private readonly list = document.createElement("div");
  private readonly status = document.createElement("div");
  private timer: ReturnType<typeof setTimeout> | undefined;
  private asking: AbortController | undefined;

  constructor(
    private readonly form: HTMLFormElement,
    private readonly box: HTMLInputElement,
  ) {
    this.list.className = "found";
    this.list.hidden = true;
    this.status.className = "unseen";
    this.status.setAttribute("role", "status");
    form.append(this.list, this.status);
  }

  listen(): void {
    this.box.addEventListener("input", () => this.later());
    this.box.addEventListener("focus", () => this.show(this.list.hasChildNodes()));
    this.form.addEventListener("keydown", (event) => this.press(event));
    this.form.addEventListener("focusout", (event) => {
      if (!this.form.contains(event.relatedTarget as Node | null)) this.show(false);
    });
    this.list.addEventListener("pointerdown", (event) => event.preventDefault()); // keeps the focus
    this.list.addEventListener("click", () => this.show(false));
  }

  private later(): void {
    clearTimeout(this.timer);
    this.asking?.abort();
    const words = this.box.value.trim();
    if (words.length < LEAST) {
      this.list.replaceChildren();
      this.show(false);
      return;
    }
    this.timer = setTimeout(() => void this.find(words), PAUSE_MS);
  }

  private async find(words: string): Promise<void> {
    const mine = (this.asking = new AbortController());
    const query = new URLSearchParams({
      book: this.form.dataset["book"] ?? "",
      q: words,
      limit: String(SECTIONS),
    });
    try {
      const reply = await fetch(`/search?${query}`, { signal: mine.signal });
      const body: unknown = await reply.json();
      if (mine.signal.aborted) return;
      if (reply.ok) this.put((body as { sections: Found[] }).sections);
      else this.say((body as { detail?: string }).detail ?? "This did not work.");
    } catch {
      if (!mine.signal.aborted) this.say("The service cannot be reached. Press Enter to try again.");
    }
  }

  private put(sections: readonly Found[]): void {
    if (sections.length === 0) {
      this.say("Nothing found.");
      return;
    }
    const list = document.createElement("ol");
    list.append(...sections.map(entry));
    this.list.replaceChildren(list);
    this.status.textContent = `${sections.length} sections`;
    this.show(true);
  }

  private say(message: string): void {
    const line = document.createElement("p");
    line.textContent = message;
    this.list.replaceChildren(line);
    this.status.textContent = message;
    this.show(true);
  }

  private show(shown: boolean): void {
    this.list.hidden = !shown;
  }

  private press(event: KeyboardEvent): void {
    if (event.key === "Escape" && !this.list.hidden) {
      event.preventDefault();
      event.stopPropagation();
      this.box.focus();
      this.show(false);
      return;
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || this.list.hidden) return;
    const stops = [this.box, ...this.list.querySelectorAll("a")];
    const at = stops.findIndex((stop) => stop === document.activeElement);
    stops[Math.min(Math.max(at + step, 0), stops.length - 1)]?.focus();
    event.preventDefault();
  }
}

/** Set one section; its words are text, and its link stays on this site. */
function entry(found: Found): HTMLLIElement {
  const [row, link, name, line] = [
    document.createElement("li"),
    document.createElement("a"),
    document.createElement("strong"),
    document.createElement("span"),
  ];
  const url = new URL(found.reader_url, location.href);
  if (url.pathname.startsWith("/read/")) link.href = url.pathname + url.search + url.hash;
  name.textContent = found.section;
  line.textContent = found.text;
  for (const part of [name, line]) part.dir = "auto";
  link.append(name, line);
  row.append(link);
  return row;
}
