// What can be done with an answer: copy it in some form, and say whether it helped.

import { type Child, h, icon, ICONS } from "../dom";
import type { Strings } from "../strings";
import { asApa, asBibtex, asMarkdown, asText, type Copied } from "./copies";
import type { Host } from "./turn";

type Tell = (name: keyof Strings) => void;

/** What the buttons under an answer work on. */
export interface Acted {
  copied(): Copied;
  requestId: string | undefined; // without it nothing can be said of the answer
  helpful: boolean | undefined;
  rated(helpful: boolean): void;
}

const FORMS = { markdown: asMarkdown, apa: asApa, bibtex: asBibtex } as const;

export function answerActions(host: Host, acted: Acted): HTMLElement {
  const status = h("span", { class: "status" });
  const tell: Tell = (name) => {
    status.replaceChildren(host.words.say(name));
    host.announce(host.words.say(name));
  };
  const copy = (write: (copied: Copied) => string): void => {
    host.copy(write(acted.copied())).then(() => tell("copied"), () => tell("notCopied"));
  };
  return h(
    "div",
    { class: "actions" },
    iconButton(host, "copy", () => copy(asText)),
    copyForms(host, copy),
    ...(acted.requestId ? thumbs(host, acted, acted.requestId, tell) : []),
    status,
  );
}

/** Offer the other forms behind one button. */
function copyForms(host: Host, copy: (write: (copied: Copied) => string) => void): HTMLElement {
  const { words } = host;
  const forms = Object.entries(FORMS).map(([name, write]) => {
    const said = words.say(name as keyof typeof FORMS);
    return h("button", { type: "button", class: "button", "aria-label": `${words.say("copyAs")} ${said}`, onclick: () => copy(write) }, said);
  });
  return h("details", { class: "forms" }, h("summary", {}, words.say("copyAs")), h("span", {}, ...forms));
}

function thumbs(host: Host, acted: Acted, requestId: string, tell: Tell): Child[] {
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
