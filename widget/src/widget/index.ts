// <script src="https://service/widget.js" data-book="..." async></script> puts the widget into a page.

import { BythebookAsk, home } from "./page/element";

const NAME = "bythebook-ask";
const script = document.currentScript as HTMLScriptElement | null;

if (script?.src) home.service = new URL(".", script.src).href;
if (!customElements.get(NAME)) customElements.define(NAME, BythebookAsk);
if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", addElement, { once: true });
else addElement();

/** Add the element, unless the page has one or does not want it added. */
function addElement(): void {
  if (script?.dataset["auto"] === "off" || document.querySelector(NAME)) return;
  const element = document.createElement(NAME);
  for (const [name, value] of Object.entries(script?.dataset ?? {}))
    element.setAttribute(name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), value ?? "");
  document.body.append(element);
}
