// Calls to the service; the key is kept for this tab only and sent in a header, never in an address.

import type { Filters } from "./places";

const KEPT = "bythebook.admin-key";
let held = ""; // where the browser keeps nothing

export class Failed extends Error {
  constructor(
    readonly status: number, // 0: the service was not reached
    message: string,
    readonly remedy: string,
  ) {
    super(message);
  }

  get needsKey(): boolean {
    return this.status === 401 || this.status === 403;
  }
}

export function key(): string {
  try {
    return sessionStorage.getItem(KEPT) ?? held;
  } catch {
    return held;
  }
}

export function keepKey(secret: string): void {
  held = secret;
  try {
    if (secret) sessionStorage.setItem(KEPT, secret);
    else sessionStorage.removeItem(KEPT);
  } catch {
    // kept in memory until the page is left
  }
}

export async function read<T>(path: string, filters: Filters = {}, signal?: AbortSignal): Promise<T> {
  const reply = await called(path, filters, signal);
  return (await reply.json()) as T;
}

/** Fetch a table as CSV and hand it to the browser as a file. */
export async function download(table: string, filters: Filters): Promise<void> {
  const reply = await called(`export/${table}`, filters);
  const name = /filename="([^"]+)"/.exec(reply.headers.get("Content-Disposition") ?? "")?.[1];
  const url = URL.createObjectURL(await reply.blob());
  const link = document.createElement("a");
  link.href = url;
  link.download = name ?? `${table}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

async function called(path: string, filters: Filters, signal?: AbortSignal): Promise<Response> {
  const query = new URLSearchParams(filters).toString();
  const headers: Record<string, string> = key() ? { Authorization: `Bearer ${key()}` } : {};
  let reply: Response;
  try {
    reply = await fetch(`/admin/${path}${query ? `?${query}` : ""}`, {
      headers,
      signal: signal ?? null,
      credentials: "omit",
      cache: "no-store",
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Failed(0, "The service could not be reached.", "See whether it runs and whether you are online, then try again.");
  }
  if (!reply.ok) throw await failure(reply);
  return reply;
}

async function failure(reply: Response): Promise<Failed> {
  const said = (await reply.json().catch(() => ({}))) as { message?: unknown };
  const message = typeof said.message === "string" ? said.message : `The service answered with status ${reply.status}.`;
  return new Failed(reply.status, message, remedy(reply));
}

function remedy(reply: Response): string {
  switch (reply.status) {
    case 401:
      return "Enter a key of scope admin.";
    case 403:
      return "Enter a key of scope admin; the key in a page of yours is for readers and may only ask.";
    case 404:
      return "It may be older than the 90 days that questions are kept.";
    case 422:
      return "Go back to the overview and choose again.";
    case 429:
      return `Wait ${reply.headers.get("Retry-After") ?? "60"} seconds, then try again.`;
    case 503:
      return "Look at /health to see which part is down, then try again.";
    default:
      return "Try again; if it stays so, the service's log says why.";
  }
}
