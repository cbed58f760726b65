// Where one is on the page, kept in the address after the #, so that it can be shared and gone back from.

import type { Kind } from "./words";

export type Filters = Readonly<Record<string, string>>;
export interface Place {
  readonly view: "overview" | "questions" | "question";
  readonly id: string; // of a question
  readonly filters: Filters;
}

export const DAYS = ["7", "30", "90"] as const;
const PERIOD = ["days", "book"] as const;

export function here(): Place {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const [first = "", id = ""] = path.split("/");
  const filters = Object.fromEntries([...new URLSearchParams(query)].filter(([, value]) => value));
  if (first === "questions") return { view: "questions", id: "", filters };
  if (first === "question" && id) return { view: "question", id: safe(id), filters };
  return { view: "overview", id: "", filters };
}

export function to(path: string, filters: Filters = {}): string {
  const query = new URLSearchParams(filters).toString();
  return `#/${path}${query ? `?${query}` : ""}`;
}

/** What is kept when one goes from view to view: the days and the book. */
export function period(filters: Filters): Filters {
  return Object.fromEntries(PERIOD.flatMap((name) => (filters[name] ? [[name, filters[name]]] : [])));
}

export function questions(filters: Filters, more: Filters = {}): string {
  return to("questions", { ...period(filters), ...more });
}

/** The filters that pick one kind of question. */
export function ofKind(kind: Kind): Filters {
  if (kind === "answered") return { status: "success" };
  return kind === "failed" ? { status: "error" } : { status: "refused", refusal_type: kind };
}

function safe(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}
