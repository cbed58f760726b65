// What can be done with an answer: copy it, and say whether it helped.

import { h, icon, ICONS } from "./dom";
import type { Strings } from "./strings";
import type { Host } from "./turn";

type Tell = (name: keyof Strings) => void;

/** What the buttons under an answer work on. */
export interface Acted {
  text(): string;
  requestId: string | undefined; // without it nothing can be said of the answer
  helpful: boolean | undefined;
  rated(helpful: boolean): void;
}

export function answerActions(host: Host, acted: Acted): HTMLElement {
  const status = h("span", { class: "status" });
  const tell: Tell = (name) => {
    status.replaceChildren(host.words.say(name));
    host.announce(host.words.say(name));
  };
  const copy = iconButton(host, "copy", () => {
    host.copy(acted.text()).then(() => tell("copied"), () => tell("notCopied"));
  });
  return h("div", { class: "actions" }, copy, ...(acted.requestId ? thumbs(host, acted, acted.requestId, tell) : []), status);
}

function thumbs(host: Host, acted: Acted, requestId: string, tell: Tell): HTMLElement[] {
  const both = (["good", "bad"] as const).map((name) => {
    const helpful = name === "good";
    const thumb = iconButton(host, name, () => {
      host.feedback(requestId, helpful).then(
        () => {
          for (const one of both) one.setAttribute("aria-pressed", String(one === thumb));
          acted.rated(helpful);
          tell("thanks");
        },
        () => tell("notTaken"),
      );
    });
    thumb.setAttribute("aria-pressed", String(acted.helpful === helpful));
    return thumb;
  });
  return both;
}

function iconButton(host: Host, name: "copy" | "good" | "bad", onclick: () => void): HTMLButtonElement {
  const said = host.words.say(name);
  return h("button", { type: "button", class: "icon-button", "aria-label": said, title: said, onclick }, icon(ICONS[name]));
}
