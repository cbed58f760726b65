// The form for the key.

import { h } from "./dom";
import { type Failed, keepKey, key } from "./service";

export function keyForm(failed: Failed, opened: () => void): HTMLElement {
  const refused = key() ? h("p", { class: "problem", role: "alert", id: "key-problem" }, h("strong", {}, failed.message), " ", failed.remedy) : null;
  const field = h("input", {
    id: "key",
    type: "password",
    autocomplete: "off",
    spellcheck: "false",
    required: true,
    "aria-describedby": refused ? "key-problem key-help" : "key-help",
    "aria-invalid": refused ? "true" : undefined,
  });
  const submit = (event: Event) => {
    event.preventDefault();
    keepKey(field.value.trim());
    opened();
  };
  keepKey(""); // one that was refused is not tried again
  return h(
    "form",
    { class: "key", submit },
    h("h1", {}, "What readers ask"),
    refused,
    h("label", { for: "key" }, "Key of scope admin"),
    h("div", { class: "row" }, field, h("button", {}, "Open")),
    h(
      "p",
      { id: "key-help", class: "note" },
      "Whoever runs the service makes one with ",
      h("code", {}, "bythebook keys create --scope admin"),
      ". It stays in this tab until you close it, and is sent to this service only.",
    ),
  );
}
