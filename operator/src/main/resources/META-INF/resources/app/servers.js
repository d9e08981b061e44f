// The parameter servers of the chosen job: where they are, and how stale the updates are that they apply.

import { byId, el, setChildren, setText, show } from "./dom.js";
import { isOver } from "./jobs.js";
import * as format from "./format.js";

export function renderServers(job, servers) {
  show(byId("servers-block"), servers !== null);
  if (servers === null) {
    return;
  }
  const { pods, staleness, droppedCopies } = servers;
  setChildren(byId("servers"), JSON.stringify([pods, isOver(job)]), () =>
    pods.length > 0 ? pods.map(serverItem) : [el("li", {}, isOver(job) ? "They have ended with the job." : "They start with its replicas.")]);
  show(byId("dropped-copies"), droppedCopies > 0);
  setText(byId("dropped-copies"), `${format.plural(droppedCopies, "share of a step", "shares of steps")} came after a copy of the same share and ${droppedCopies === 1 ? "was" : "were"} dropped.`);
  renderStaleness(staleness);
}

function serverItem({ index, pod, node, running }) {
  const where = running ? `on ${node}` : node ? `starts on ${node}` : "waits for a node";
  return el("li", {}, `Server ${index}: `, el("span", { class: "pod" }, pod), ` ${where}`);
}

/** One row for each staleness up to the greatest that there was. */
function renderStaleness(counts) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  show(byId("staleness"), total > 0);
  const greatest = counts.findLastIndex((count) => count > 0);
  const most = Math.max(...counts, 1);
  const rows = counts.slice(0, greatest + 1);
  setChildren(byId("staleness-rows"), JSON.stringify(counts), () =>
    rows.map((count, staleness) => {
      const bar = el("span", {});
      bar.style.width = `${(100 * count) / most}%`;
      return el("tr", {},
        el("th", { scope: "row" }, staleness === counts.length - 1 && counts.length > 1 ? `${staleness} or more` : String(staleness)),
        el("td", {}, format.count(count)),
        el("td", {}, el("div", { class: "bar", "aria-hidden": "true" }, bar), el("span", { class: "share" }, share(count / total))));
    }));
}

/** What is there but less than a hundredth is not nothing. */
function share(fraction) {
  return fraction > 0 && fraction < 0.01 ? "< 1 %" : format.percent(fraction);
}
