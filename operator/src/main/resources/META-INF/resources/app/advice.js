// How many nodes of each GPU type there should be, and why.

import { byId, el, setChildren, show } from "./dom.js";
import * as format from "./format.js";

export function renderAdvice(advice) {
  show(byId("advice"), advice.length > 0);
  setChildren(byId("advice-list"), JSON.stringify(advice), () => advice.map(item));
}

function item(row) {
  const changes = row.advised !== row.nodes;
  const size = changes ? `${format.count(row.nodes)} → ${format.count(row.advised)}` : format.count(row.nodes);
  return el(
    "li",
    { "data-changes": String(changes) },
    el(
      "div",
      { class: "advice-size" },
      el("h3", {}, row.gpuType || "All nodes"),
      el("p", { class: "why-size" }, size, el("span", { class: "range" }, row.advised === 1 ? " node" : " nodes")),
    ),
    el("dl", { class: "facts" }, ...facts(row, changes)),
    el("p", { class: "advice-why" }, row.message),
  );
}

function facts(row, changes) {
  const { low, high, waitingJobs, jobs, pricePerHour, advisedPricePerHour } = row.numbers;
  const facts = [
    ...fact("Utility", format.measure(row.utility), changes ? `then ${format.measure(row.expectedUtility)}` : null),
    ...fact("Wanted", `${format.measure(low)} to ${format.measure(high)}`),
    ...fact("Jobs", format.count(jobs), waitingJobs ? `${format.count(waitingJobs)} waiting` : null),
  ];
  return pricePerHour === undefined
    ? facts
    : [...facts, ...fact("Cost in an hour", format.measure(pricePerHour), changes ? `then ${format.measure(advisedPricePerHour)}` : null)];
}

function fact(name, value, note) {
  const text = el("dd", {}, value);
  if (note) {
    text.append(el("span", { class: "sub" }, note));
  }
  return [el("div", {}, el("dt", {}, name), text)];
}
