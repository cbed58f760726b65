// Server-sent events from a response's bytes, however a proxy cuts or gathers them.

export interface ServerEvent {
  name: string;
  data: string;
}

/** Reads text/event-stream; takes text in any pieces. */
export class EventParser {
  #rest = "";
  #name = "";
  #data: string[] = [];
  #begun = false;

  /** Take the next piece, give the events that it completes. */
  push(text: string): ServerEvent[] {
    this.#rest += text;
    if (!this.#begun && this.#rest) {
      this.#rest = this.#rest.replace(/^\uFEFF/, "");
      this.#begun = true;
    }
    const found: ServerEvent[] = [];
    for (let line = this.#line(); line !== null; line = this.#line()) {
      const event = this.#take(line);
      if (event) found.push(event);
    }
    return found;
  }

  /** Give what a stream that ended without its last empty line still holds. */
  end(): ServerEvent[] {
    const last = this.#rest.replace(/\r$/, "");
    this.#rest = "";
    if (last) this.#take(last);
    const event = this.#take("");
    return event ? [event] : [];
  }

  /** Take a line off; a CR at the very end may be half of a CRLF, so it waits. */
  #line(): string | null {
    const match = /\r\n|\n|\r(?!$)/.exec(this.#rest);
    if (!match) return null;
    const line = this.#rest.slice(0, match.index);
    this.#rest = this.#rest.slice(match.index + match[0].length);
    return line;
  }

  #take(line: string): ServerEvent | null {
    if (line === "") return this.#finish();
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon); // an empty one is a comment, a sign of life
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.#name = value;
    else if (field === "data") this.#data.push(value);
    return null;
  }

  #finish(): ServerEvent | null {
    const event = this.#data.length ? { name: this.#name || "message", data: this.#data.join("\n") } : null;
    this.#name = "";
    this.#data = [];
    return event;
  }
}

/** Give the events of a response as they come. */
export async function* serverEvents(response: Response): AsyncGenerator<ServerEvent> {
  const parser = new EventParser();
  if (!response.body) {
    yield* parser.push(await response.text());
  } else {
    const decoder = new TextDecoder(); // keeps the half of a character until its other half comes
    const reader = response.body.getReader();
    try {
      for (let step = await reader.read(); !step.done; step = await reader.read())
        yield* parser.push(decoder.decode(step.value, { stream: true }));
      yield* parser.push(decoder.decode());
    } finally {
      reader.cancel().catch(() => undefined);
    }
  }
  yield* parser.end();
}
