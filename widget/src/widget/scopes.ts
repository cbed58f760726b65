// Where an answer about a selection may come from, changed by one click.

import { h } from "./dom";
import { type Scope, SCOPES, type Selected } from "./service";
import type { Words } from "./strings";

export function scopeButtons(words: Words, selected: Selected, choose: (scope: Scope) => void): HTMLElement {
  const buttons = SCOPES.map((scope) =>
    h("button", { type: "button", "aria-pressed": String(scope === selected.scope), onclick: () => choose(scope) }, words.say(scope)),
  );
  return h("div", { class: "scopes", role: "group", "aria-label": words.say("scope") }, ...buttons);
}
