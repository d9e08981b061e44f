// Keeps a stream of overviews open and says so when it breaks.

import { Overviews } from "./access.js";

const SILENCE_MILLIS = 25000; // The server speaks at least every ten seconds.
const RETRY_MILLIS = 2000;

/** Calls onOverview with each overview and onState with "live" or "lost". */
export function follow(onOverview, onState) {
  let source = null;
  let watchdog = 0;

  function connect() {
    source = new Overviews("/api/v1/events");
    source.onmessage = (event) => {
      guardSilence();
      onState("live");
      onOverview(JSON.parse(event.data));
    };
    source.onerror = () => {
      onState("lost");
      // The browser tries again by itself, except after an answer that is no stream.
      if (source.readyState === Overviews.CLOSED) {
        reconnectIn(RETRY_MILLIS);
      }
    };
    guardSilence();
  }

  function guardSilence() {
    clearTimeout(watchdog);
    watchdog = setTimeout(() => {
      onState("lost");
      reconnectIn(0);
    }, SILENCE_MILLIS);
  }

  function reconnectIn(millis) {
    clearTimeout(watchdog);
    source.close();
    setTimeout(connect, millis);
  }

  connect();
}
