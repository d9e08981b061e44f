// Says who asks, where the operator wants to know: a token that is kept for as long as the tab is open.

import { byId, show } from "./dom.js";

const KEY = "kastor-token";

function headers() {
  const token = sessionStorage.getItem(KEY);
  return token ? { Authorization: `Bearer ${token}` } : {};
}

/** Fetches, and asks for a token if there is none or it is not good. */
export async function ask(path, options = {}) {
  const response = await fetch(path, { ...options, headers: { ...options.headers, ...headers() } });
  if (response.status === 401) {
    sessionStorage.removeItem(KEY);
    show(byId("access"), true);
  }
  return response;
}

/** Calls onReady once a token was given. */
export function onToken(onReady) {
  byId("access-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const field = byId("access-token");
    sessionStorage.setItem(KEY, field.value.trim());
    field.value = "";
    show(byId("access"), false);
    onReady();
  });
}

/** Like an EventSource, which cannot say who asks. */
export class Overviews {
  static CLOSED = 2;

  constructor(path) {
    this.readyState = 0;
    this.abort = new AbortController();
    this.read(path);
  }

  async read(path) {
    try {
      const response = await ask(path, { signal: this.abort.signal });
      if (!response.ok) {
        throw new Error(`${path}: ${response.status}`);
      }
      this.readyState = 1;
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        const events = (rest + part.value.replaceAll("\r", "")).split("\n\n");
        rest = events.pop();
        events.forEach((event) => this.tell(event));
      }
    } catch (problem) {
      if (this.abort.signal.aborted) {
        return;
      }
      console.warn("The stream of overviews broke:", problem.message);
    }
    this.readyState = Overviews.CLOSED;
    this.onerror?.();
  }

  tell(event) {
    const data = event.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5)).join("\n");
    if (data) {
      this.onmessage?.({ data });
    }
  }

  close() {
    this.readyState = Overviews.CLOSED;
    this.abort.abort();
  }
}
