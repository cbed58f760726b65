// Links that may be followed: http and https only, whatever a response says.

/** Give an address that is safe to open, or null. */
export function safeUrl(given: string | null | undefined, base: string): string | null {
  if (!given) return null;
  try {
    const url = new URL(given, base);
    return url.protocol === "https:" || url.protocol === "http:" ? url.href : null;
  } catch {
    return null;
  }
}

/** Say how a link opens: the book's own site in its tab, any other site in a new one. */
export function linkProps(url: string): Record<string, string> {
  const own = new URL(url).origin === location.origin;
  return own ? { href: url } : { href: url, target: "_blank", rel: "noopener noreferrer" };
}

/** Name a place for people: its chapter, then its section. */
export function placeOf(chapter: string | null | undefined, section: string | null | undefined): string {
  return [...new Set([chapter, section].filter(Boolean))].join(" · ");
}
