// The strip on top: slots by node, and how many jobs are in which state.

import { byId, el, setChildren, setText, show } from "./dom.js";
import { lookOf, paint } from "./colour.js";
import { isOver, keyOf } from "./jobs.js";

export function renderCluster(cluster, jobs) {
  setText(byId("policy-name"), cluster.policy);
  show(byId("policy"), true);
  setText(byId("slots-used"), String(cluster.slotsUsed));
  setText(byId("slots-total"), String(cluster.slotsTotal));
  renderNodes(cluster.nodes, jobs);

  const of = (...phases) => jobs.filter((job) => phases.includes(job.phase)).length;
  const starting = of("Starting");
  const suspended = of("Suspended");
  const failed = of("Failed");
  setText(byId("count-running"), String(of("Running", "Starting")));
  setText(byId("note-running"), starting ? `${starting} starting` : "");
  setText(byId("count-waiting"), String(of("Queued", "New")));
  setText(byId("note-waiting"), suspended ? `${suspended} more suspended` : "");
  setText(byId("count-finished"), String(jobs.filter(isOver).length));
  const allDone = jobs.length > 0 && jobs.every(isOver);
  setText(byId("note-finished"), failed ? `${failed} failed` : allDone ? "all done" : "");
}

function renderNodes(nodes, jobs) {
  const holders = (node) =>
    jobs.flatMap((job) => Array.from({ length: job.nodes[node.name] ?? 0 }, () => keyOf(job)));
  const described = nodes.map((node) => ({ node, holders: holders(node) }));
  const key = JSON.stringify(described.map(({ node, holders: held }) => [node, held.map(lookOf)]));
  setChildren(byId("nodes"), key, () => described.map(({ node, holders: held }) => nodeItem(node, held)));
}

function nodeItem(node, held) {
  const cells = el("span", { class: "cells", "aria-hidden": "true" });
  for (let slot = 0; slot < node.slotsTotal; slot++) {
    const cell = el("span", { class: slot < held.length ? "cell used" : "cell" });
    if (slot < held.length) {
      paint(cell, held[slot]);
    }
    cells.append(cell);
  }
  const type = node.gpuType ? `${node.name}: ${node.gpuType}` : node.name;
  const slow = node.slowdown ? `steps take ${node.slowdown.toFixed(1)} times as long` : "";
  return el(
    "li",
    { title: slow ? `${type}, ${slow}` : type },
    `${node.name} `,
    el("span", {}, `${node.slotsUsed}/${node.slotsTotal}`),
    slow ? el("span", { class: "slow" }, slow) : "",
    cells,
  );
}
