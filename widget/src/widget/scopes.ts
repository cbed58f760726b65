// Where an answer about a selection may come from, changed by one click.

import { h } from "./dom";
import { type Scope, SCOPES, type Selected } from "./service";
import type { Words } from "./strings";

const CHIP_WORDS = 60; // characters of a selection that are shown

export function scopeButtons(words: Words, selected: Selected, choose: (scope: Scope) => void): HTMLElement {
  const buttons = SCOPES.map((scope) =>
    h("button", { type: "button", "aria-pressed": String(scope === selected.scope), onclick: () => choose(scope) }, words.say(scope)),
  );
  return h("div", { class: "scopes", role: "group", "aria-label": words.say("scope") }, ...buttons);
}

/** Give the first words of a selection, to know it again by. */
export function firstWords(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  if (line.length <= CHIP_WORDS) return `“${line}”`;
  const cut = line.slice(0, CHIP_WORDS);
  return `“${cut.slice(0, Math.max(cut.lastIndexOf(" "), CHIP_WORDS / 2))}\u00a0…”`;
}
