// Which keys open the panel, and when they are meant for something else.

/** Whether a key press is `/`, Ctrl-K or ⌘K. */
export function isShortcut(event: KeyboardEvent): boolean {
  if (event.altKey || event.shiftKey) return event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey;
  if (event.ctrlKey || event.metaKey) return event.key.toLowerCase() === "k" && !(event.ctrlKey && event.metaKey);
  return event.key === "/";
}

/** Whether a key goes into some field, in whatever shadow root. */
export function isTyping(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0];
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}
