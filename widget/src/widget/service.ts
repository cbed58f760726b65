// The service as the widget calls it; what fails is a Failure, which knows what a reader can do.

import type { components } from "../api";
import { serverEvents } from "./events";

type Schemas = components["schemas"];
export type ChatResponse = Schemas["ChatResponse"];
export type Citation = Schemas["CitationModel"];
export type Thread = Schemas["ConversationThread"];
export type Scope = NonNullable<Schemas["ChatRequest"]["scope"]>;
export type Message = Extract<Thread["messages"][number], { role: "assistant" }>;
export type Section = Schemas["NearestSectionModel"] & { text?: string | undefined };

export interface Selected {
  text: string;
  scope: Scope;
}

export interface Content {
  delta: string;
  citations: Citation[];
}

export type AnswerEvent =
  | { kind: "begun"; requestId: string | null }
  | { kind: "found"; sections: string[] }
  | { kind: "content"; content: Content }
  | { kind: "done"; response: ChatResponse };

export type FailureKind =
  | "offline"
  | "unreachable"
  | "cut"
  | "unauthorized"
  | "forbidden"
  | "limited"
  | "unavailable"
  | "lasting"
  | "notFound"
  | "invalid"
  | "broken";

const KINDS: Readonly<Record<number, FailureKind>> = {
  401: "unauthorized",
  403: "forbidden",
  404: "notFound",
  405: "notFound",
  413: "invalid",
  422: "invalid",
  429: "limited",
  502: "unavailable",
  503: "unavailable",
  504: "unavailable",
};
const NAMED: Readonly<Record<string, FailureKind>> = { rate_limited: "limited", validation_failed: "invalid", internal: "broken" };
export const SCOPES: readonly Scope[] = ["selection", "section", "book"];
const WAIT_SECONDS = 5;
const MOST_SEARCHED = 500; // characters
const MOST_RANGES = 100; // of a page at once, as the service takes them

/** Why there is no answer, and whether and when asking again can help. */
export class Failure extends Error {
  constructor(
    readonly kind: FailureKind,
    readonly details = "",
    readonly wait = WAIT_SECONDS,
  ) {
    super(kind);
  }
}

/** The routes that the widget uses. */
export class Service {
  constructor(
    readonly base: string,
    readonly book: string,
    readonly key: string,
  ) {}

  /** Find the sections nearest to a question; none where the service cannot tell. */
  async search(question: string, signal: AbortSignal): Promise<Section[]> {
    try {
      const query = new URLSearchParams({ q: question.slice(0, MOST_SEARCHED), ...(this.book && { book: this.book }) });
      const response = await this.#call("GET", `/search?${query}`, undefined, signal);
      const found = record(await response.json());
      return sectionsOf(found["sections"]);
    } catch {
      return [];
    }
  }

  /** Find questions that the book answers, those of the open page first; none where there are none. */
  async suggestions(page: string): Promise<string[]> {
    try {
      const query = new URLSearchParams({ ...(this.book && { book: this.book }), ...(page && { document: page }) });
      const response = await this.#call("GET", `/suggestions?${query}`);
      const found = (await response.json()) as Schemas["SuggestionsResponse"];
      return found.suggestions.map((one) => one.question);
    } catch {
      return [];
    }
  }

  /** Ask, and give the events of the answer; the last is `done`, or a Failure is thrown. */
  async *ask(
    question: string,
    session: string,
    selected: Selected | null,
    signal: AbortSignal,
  ): AsyncGenerator<AnswerEvent> {
    const response = await this.#call("POST", "/chat/stream", this.#asked(question, session, selected), signal);
    yield { kind: "begun", requestId: response.headers.get("X-Request-ID") };
    if (isJson(response)) {
      yield { kind: "done", response: answerOf(await response.json()) };
      return;
    }
    try {
      for await (const event of serverEvents(response)) {
        const answerEvent = eventOf(event.name, event.data);
        if (answerEvent) yield answerEvent;
        if (answerEvent?.kind === "done") return;
      }
    } catch (error) {
      if (error instanceof Failure || signal.aborted) throw error;
    }
    throw new Failure("cut");
  }

  /** Read a conversation; null where there is none any more. */
  async history(session: string): Promise<Thread | null> {
    try {
      const response = await this.#call("GET", `/session/${session}/history`);
      const thread = (await response.json()) as Thread;
      return Array.isArray(thread.messages) ? thread : null;
    } catch (error) {
      if (error instanceof Failure && error.kind === "notFound") return null;
      throw error;
    }
  }

  /** Delete a conversation; one that is not there is as good as deleted. */
  async forget(session: string): Promise<void> {
    try {
      await this.#call("DELETE", `/session/${session}`);
    } catch (error) {
      if (!(error instanceof Failure && error.kind === "notFound")) throw error;
    }
  }

  /** Give the way to load parts of the page that a quote stands on, if the service has it. */
  fragment({ document_id, link }: Citation): ((ranges: readonly string[], sectionAt?: number) => Promise<Document>) | null {
    const book = this.book || /\/read\/([^/?#]+)\//.exec(link ?? "")?.[1];
    if (!book || !document_id) return null;
    const page = encodeURIComponent(document_id).replaceAll("%2F", "/");
    return (ranges, sectionAt) => {
      const asked = ranges.slice(0, MOST_RANGES).map((one) => ["range", one]);
      if (sectionAt !== undefined) asked.push(["section_at", String(sectionAt)]);
      return this.#document(`/read/${book}/${page}.html?${new URLSearchParams(asked)}`);
    };
  }

  /** Say whether an answer helped. */
  async feedback(requestId: string, helpful: boolean): Promise<void> {
    await this.#call("POST", "/feedback", { request_id: requestId, helpful });
  }

  #asked(message: string, session: string, selected: Selected | null): object {
    return {
      message,
      session_id: session,
      ...(this.book && { book: this.book }),
      ...(selected && { selected_text: selected.text, scope: selected.scope }),
    };
  }

  /** Load a page as a document that runs and loads nothing; no page's policy on scripts that parse HTML forbids it. */
  #document(path: string): Promise<Document> {
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      const fail = (): void => reject(new Failure("unreachable"));
      request.open("GET", this.base + path);
      request.responseType = "document";
      if (this.key) request.setRequestHeader("Authorization", `Bearer ${this.key}`);
      request.onload = () => (request.status === 200 && request.responseXML ? resolve(request.responseXML) : fail());
      request.onerror = fail;
      request.send();
    });
  }

  async #call(method: string, path: string, body?: object, signal?: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = {};
    if (body) headers["Content-Type"] = "application/json";
    if (this.key) headers["Authorization"] = `Bearer ${this.key}`;
    let response: Response;
    try {
      response = await fetch(this.base + path, {
        method,
        headers,
        credentials: "omit",
        referrerPolicy: "no-referrer",
        ...(body && { body: JSON.stringify(body) }),
        ...(signal && { signal }),
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new Failure(navigator.onLine ? "unreachable" : "offline");
    }
    if (!response.ok) throw await failureOf(response);
    return response;
  }
}

async function failureOf(response: Response): Promise<Failure> {
  const body: unknown = isJson(response) ? await response.json().catch(() => null) : null;
  const details = record(body)["message"];
  const wait = Number.parseInt(response.headers.get("Retry-After") ?? "", 10);
  // Where waiting can help, the service says for how long.
  const isLasting = record(body)["error"] === "store_unavailable" && !Number.isFinite(wait);
  return new Failure(
    isLasting ? "lasting" : (KINDS[response.status] ?? "broken"),
    typeof details === "string" ? details : "",
    Number.isFinite(wait) ? wait : WAIT_SECONDS,
  );
}

function eventOf(name: string, data: string): AnswerEvent | null {
  const value = record(parsed(data));
  if (name === "retrieval" && Array.isArray(value["sections"]))
    return { kind: "found", sections: value["sections"].filter((one) => typeof one === "string") };
  if (name === "content" && typeof value["delta"] === "string")
    return { kind: "content", content: { delta: value["delta"], citations: citationsOf(value["citations"]) } };
  if (name === "done") return { kind: "done", response: answerOf(value) };
  if (name === "error") {
    const failure = NAMED[String(value["error"])] ?? "unavailable";
    throw new Failure(failure, typeof value["message"] === "string" ? value["message"] : "");
  }
  return null;
}

/** Take what claims to be an answer, or say that it is none. */
function answerOf(value: unknown): ChatResponse {
  const answer = record(value);
  if (typeof answer["response"] !== "string" || !Array.isArray(answer["sentences"])) throw new Failure("broken");
  return { ...(value as ChatResponse), citations: citationsOf(answer["citations"]) };
}

export function citationsOf(value: unknown): Citation[] {
  return Array.isArray(value) ? value.filter((one) => Number.isInteger(record(one)["sentence"])) : [];
}

export function sectionsOf(value: unknown): Section[] {
  return Array.isArray(value) ? value.filter(isSection) : [];
}

function isSection(value: unknown): value is Section {
  return typeof record(value)["section"] === "string" && typeof record(value)["url"] === "string";
}

export function selectedOf(value: unknown): Selected | null {
  const { text, scope } = record(value);
  const known = SCOPES.find((one) => one === scope);
  return typeof text === "string" && known ? { text, scope: known } : null;
}

function isJson(response: Response): boolean {
  return /\bjson\b/.test(response.headers.get("Content-Type") ?? "");
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return null;
  }
}

export function record(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === "object" ? (value as Record<string, unknown>) : {};
}
