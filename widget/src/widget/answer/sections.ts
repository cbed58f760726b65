// Sections of the book to read on in, as links.

import { h } from "../dom";
import { linkProps, placeOf, safeUrl } from "../links";
import type { Section } from "../service";

/** Give the sections that a refusal named, with the lines that the search showed of them; else what that found. */
export function mergedSections(nearest: Section[], found: Section[]): Section[] {
  const known = new Map(found.map((one) => [placeOf(one.chapter, one.section), one]));
  const merged = nearest.map((one) => ({ ...one, text: known.get(placeOf(one.chapter, one.section))?.text }));
  return merged.length ? merged : found;
}

export function sectionList(sections: Section[], base: string): HTMLElement {
  return h("ul", {}, ...sections.map((one) => sectionItem(one, base)));
}

function sectionItem(section: Section, base: string): HTMLElement {
  const url = safeUrl(section.url, base);
  const name = section.section || placeOf(section.chapter, "");
  return h(
    "li",
    { dir: "auto" },
    url ? h("a", linkProps(url), name) : h("span", {}, name),
    section.chapter && section.chapter !== name ? h("span", { class: "chapter" }, section.chapter) : null,
    section.text ? h("span", { class: "line" }, section.text) : null,
  );
}
