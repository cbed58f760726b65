// What the browser remembers: the id of a conversation per service and book, and whether the panel was open.
// Words of a conversation are kept by the service alone.

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Remembers for one service and book; forgets at once where the browser keeps nothing. */
export class Memory {
  readonly #name: string;
  #session: string | null = null;

  constructor(base: string, book: string) {
    this.#name = `bythebook:${base}:${book}`;
  }

  /** The conversation to go on with. */
  get session(): string | null {
    const kept = this.#session ?? attempt(() => localStorage.getItem(this.#name));
    return kept && ID.test(kept) ? kept : null;
  }

  /** Give the conversation's id, a new one where there is none. */
  begin(): string {
    const id = this.session ?? newId();
    this.#session = id;
    attempt(() => localStorage.setItem(this.#name, id));
    return id;
  }

  /** Let go of the conversation. */
  end(): void {
    this.#session = null;
    attempt(() => localStorage.removeItem(this.#name));
  }

  get open(): boolean {
    return attempt(() => sessionStorage.getItem(this.#name)) === "open";
  }

  set open(open: boolean) {
    attempt(() => (open ? sessionStorage.setItem(this.#name, "open") : sessionStorage.removeItem(this.#name)));
  }
}

/** Make a random UUID (version 4); crypto.randomUUID is missing on pages without TLS. */
function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

function attempt<T>(use: () => T): T | null {
  try {
    return use();
  } catch {
    return null; // storage may be barred
  }
}
