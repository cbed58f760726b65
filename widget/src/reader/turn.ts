// Turns pages of the book in place, so that the conversation next to the text stays as it is.

const QUOTE = "quote";
const TEXT = "_text";
const CONTENTS = "_contents";

interface Place {
  readonly y: number;
}

let shown = pageOf(new URL(location.href));
let turning: AbortController | undefined;

/** Follow links to pages of this book without loading the page again, also those of the widget. */
export function turnWithoutReload(afterwards: () => void): void {
  if (!bookOf(location.pathname)) return;
  history.scrollRestoration = "manual";
  document.addEventListener("click", (event) => {
    const url = wanted(event);
    if (!url) return;
    event.preventDefault();
    history.replaceState({ y: scrollY } satisfies Place, "");
    void turn(url, undefined, afterwards);
  });
  addEventListener("popstate", (event) => {
    const url = new URL(location.href);
    if (pageOf(url) === shown) return;
    void turn(url, (event.state as Place | null) ?? { y: 0 }, afterwards);
  });
}

/** Bring the marked quote into the middle of the window; the browser may have stopped elsewhere. */
export function showMark(): void {
  const mark = document.getElementById(QUOTE);
  if (!mark || !location.search.includes("mark=")) return;
  const fits = mark.getBoundingClientRect().height < innerHeight / 2;
  mark.scrollIntoView({ block: fits ? "center" : "start", behavior: "instant" });
}

function wanted(event: MouseEvent): URL | undefined {
  const plain = !event.defaultPrevented && event.button === 0;
  if (!plain || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return undefined;
  const link = event.composedPath().find((one) => one instanceof HTMLAnchorElement);
  if (!link || link.download) return undefined;
  const url = new URL(link.href, location.href);
  const inBook = url.origin === location.origin && bookOf(url.pathname) === bookOf(location.pathname);
  const leadsOn = pageOf(url) !== shown || url.searchParams.has("mark");
  return inBook && leadsOn && !url.pathname.endsWith(".txt") ? url : undefined;
}

/** Name the book of a page's address; the title page of a book is none of its pages. */
function bookOf(path: string): string | undefined {
  return /^\/read\/([^/]+)\/./.exec(path)?.[1];
}

function pageOf(url: URL): string {
  return url.pathname + url.search;
}

async function turn(url: URL, back: Place | undefined, afterwards: () => void): Promise<void> {
  turning?.abort();
  const mine = (turning = new AbortController());
  const page = await load(url, mine.signal);
  if (mine.signal.aborted) return;
  if (!page) {
    location.assign(url);
    return;
  }
  if (!back) history.pushState(null, "", url.pathname + url.search);
  shown = pageOf(url);
  put(page);
  afterwards();
  goTo(url, back);
}

async function load(url: URL, signal: AbortSignal): Promise<Document | undefined> {
  try {
    const reply = await fetch(pageOf(url), { signal, headers: { Accept: "text/html" } });
    if (!reply.ok || !reply.headers.get("content-type")?.startsWith("text/html")) return undefined;
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    return page.getElementById(TEXT) ? page : undefined;
  } catch {
    return undefined;
  }
}

function put(page: Document): void {
  document.title = page.title;
  for (const id of [TEXT, CONTENTS]) {
    const [old, fresh] = [document.getElementById(id), page.getElementById(id)];
    if (old && fresh) old.replaceChildren(...fresh.childNodes);
  }
}

function goTo(url: URL, back: Place | undefined): void {
  const anchor = url.hash.split(":~:")[0] ?? "";
  if (anchor.length > 1 && !back) location.replace(anchor); // this, unlike pushState, sets :target
  else scrollTo({ top: back?.y ?? 0, behavior: "instant" });
  if (back) return;
  const mark = document.getElementById(QUOTE);
  const target = mark ?? document.getElementById(TEXT);
  mark?.setAttribute("tabindex", "-1");
  target?.focus({ preventScroll: true });
  showMark();
}
