// The contents next to the text: unfolded where there is room, and showing where the reader is.

const wide = matchMedia("(min-width: 80rem)");
let watching: IntersectionObserver | undefined;

/** Unfold the contents, and follow the reader through the sections of the page. */
export function followContents(): void {
  const fold = document.getElementById("_contents");
  if (!(fold instanceof HTMLDetailsElement)) return;
  unfold(fold);
  wide.onchange = () => unfold(fold);
  fold.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", behavior: "instant" });
  follow(fold);
}

function unfold(fold: HTMLDetailsElement): void {
  fold.open = wide.matches;
}

function follow(fold: HTMLDetailsElement): void {
  watching?.disconnect();
  const links = new Map<Element, Element>();
  for (const link of fold.querySelectorAll<HTMLAnchorElement>(".sections a")) {
    const heading = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (heading) links.set(heading, link);
  }
  watching = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        for (const link of links.values()) link.classList.remove("seen");
        links.get(entry.target)?.classList.add("seen");
      }
    },
    { rootMargin: "0px 0px -65% 0px" },
  );
  for (const heading of links.keys()) watching.observe(heading);
}
