// The list of jobs: a table on wide screens, cards on narrow ones; one markup for both.

import { byId, el, setChildren, setText, show } from "./dom.js";
import { lookOf, paint } from "./colour.js";
import * as format from "./format.js";

const rows = new Map();
const MOST_PIPS = 16;
const TELLING = new Set(["Queued", "Suspended", "Failed"]);

export const keyOf = (job) => `${job.namespace}/${job.name}`;
export const isOver = (job) => job.phase === "Succeeded" || job.phase === "Failed";

export function renderJobs(jobs, chosenKey) {
  const body = byId("rows");
  const present = new Set(jobs.map(keyOf));
  for (const [key, row] of rows) {
    if (!present.has(key)) {
      row.node.remove();
      rows.delete(key);
    }
  }
  jobs.forEach((job, index) => {
    const key = keyOf(job);
    if (!rows.has(key)) {
      rows.set(key, createRow(job));
    }
    const row = rows.get(key);
    if (body.children[index] !== row.node) {
      body.insertBefore(row.node, body.children[index] ?? null);
    }
    fillRow(row, job, key === chosenKey);
  });
}

function createRow(job) {
  const part = (name) => el("span", { class: name });
  const parts = {
    link: el("a", { href: `#${keyOf(job)}` }, job.name),
    jobSub: part("sub job-sub"),
    phase: part("phase"),
    reason: part("sub reason"),
    size: part("size"),
    sizeSub: part("sub"),
    pips: el("span", { class: "pips", "aria-hidden": "true" }),
    batch: el("span"),
    batchSub: part("sub"),
    goodput: el("span"),
    goodputSub: part("sub"),
    efficiency: el("span"),
    bar: el("div", { class: "bar", role: "progressbar", "aria-valuemin": "0", "aria-valuemax": "100" }, el("span")),
    percent: part("pct"),
    eta: el("span"),
    rescales: el("span"),
    rescalesSub: part("sub"),
  };
  const cell = (label, className, ...children) =>
    el("td", { role: "cell", class: className, "data-label": label }, ...children);
  const node = el(
    "tr",
    { role: "row" },
    el("td", { role: "cell", class: "cell-job" },
      el("span", { class: "job-name" }, el("span", { class: "swatch", "aria-hidden": "true" }), parts.link), parts.jobSub),
    el("td", { role: "cell", class: "cell-state" }, parts.phase, parts.reason),
    cell("Replicas", "cell-size", parts.size, parts.pips, parts.sizeSub),
    cell("Batch", "num", parts.batch, parts.batchSub),
    cell("Goodput", "num", parts.goodput, parts.goodputSub),
    cell("Efficiency", "num", parts.efficiency),
    cell("Progress", "cell-progress", parts.bar, el("div", { class: "bar-text" }, parts.percent, parts.eta)),
    cell("Rescales", "num", parts.rescales, parts.rescalesSub),
  );
  node.addEventListener("click", (event) => {
    if (event.target !== parts.link) {
      parts.link.click();
    }
  });
  paint(node, keyOf(job));
  return { node, parts };
}

function fillRow({ node, parts }, job, chosen) {
  node.dataset.phase = job.phase;
  node.classList.toggle("over", isOver(job));
  if (chosen) {
    node.setAttribute("aria-current", "true");
  } else {
    node.removeAttribute("aria-current");
  }
  setText(parts.jobSub, job.namespace === "default" ? job.program : `${job.program} · ${job.namespace}`);
  setText(parts.phase, job.phase);
  parts.phase.dataset.phase = job.phase;
  fillReason(parts.reason, job);
  fillSize(parts, job);
  setText(parts.batch, batchText(job));
  setText(parts.batchSub, split(job));
  const active = job.phase === "Running";
  setText(parts.goodput, active ? format.measure(job.goodput) : format.NONE);
  setText(parts.goodputSub, active && job.goodput !== null ? "examples/s" : "");
  setText(parts.efficiency, active ? format.percent(job.efficiency) : format.NONE);
  parts.bar.firstChild.style.width = `${job.percent}%`;
  parts.bar.setAttribute("aria-valuenow", String(Math.round(job.percent)));
  parts.bar.setAttribute("aria-label", `Progress of ${job.name}`);
  setText(parts.percent, `${Math.floor(job.percent)} %`);
  setText(parts.rescales, format.count(job.rescales));
  setText(parts.rescalesSub, rescaleNote(job));
  renderEta(parts, job);
}

/** One word for why the job does not train; the sentence is its title and in the detail. */
function fillReason(node, job) {
  const reason = TELLING.has(job.phase) ? (job.phaseReason ?? "") : "";
  // On a card it may wrap between its words.
  setChildren(node, reason, () => reason.split(/(?=[A-Z])/).flatMap((word) => [word, el("wbr")]));
  show(node, reason !== "");
  node.title = reason && job.note ? `${reason}: ${job.note}` : reason;
}

function fillSize(parts, job) {
  const range = format.range(job.minReplicas, job.maxReplicas);
  if (isOver(job)) {
    const ran = job.ran ? format.range(job.ran.minReplicas, job.ran.maxReplicas) : format.NONE;
    setChildren(parts.size, `over ${ran}`, () => [ran]);
    setChildren(parts.pips, "over", () => []);
    setText(parts.sizeSub, job.ran ? "while it ran" : "");
    return;
  }
  setText(parts.sizeSub, job.slotsPerReplica > 1 ? `${job.slotsPerReplica} GPUs each` : "");
  setChildren(parts.size, `${job.replicas} ${range}`, () => [
    `${job.replicas} `,
    el("span", { class: "range" }, `of ${range}`),
  ]);
  const pips = Math.min(job.maxReplicas, MOST_PIPS);
  const on = job.maxReplicas <= MOST_PIPS ? job.replicas : Math.ceil((job.replicas / job.maxReplicas) * MOST_PIPS);
  setChildren(parts.pips, `${on}/${pips}`, () =>
    Array.from({ length: pips }, (_, i) => el("span", { class: i < on ? "pip on" : "pip" })));
}

function batchText(job) {
  if (isOver(job) && job.ran) {
    return format.range(job.ran.minGlobalBatch, job.ran.maxGlobalBatch);
  }
  return job.batch ? format.count(job.batch.global) : format.NONE;
}

/** How the global batch comes about: replicas × per replica (× passes). */
function split(job) {
  if (!job.batch || !job.trainingReplicas) {
    return "";
  }
  const passes = job.batch.accumulationSteps + 1;
  return `${job.trainingReplicas} × ${job.batch.atomic}${passes > 1 ? ` × ${passes}` : ""}`;
}

function rescaleNote(job) {
  const notes = [];
  if (job.medianPauseMillis !== null) {
    notes.push(`${format.pause(job.medianPauseMillis)} pause`);
  }
  if (job.restarts > 0) {
    notes.push(format.plural(job.restarts, "restart"));
  }
  return notes.join(", ");
}

function renderEta(parts, job) {
  setText(parts.eta, ending(job, Date.now()));
}

/** What the progress bar leads to: time left, or how it ended. */
export function ending(job, now) {
  if (job.phase === "Succeeded") {
    const took = job.started && job.ended ? `in ${format.duration(Date.parse(job.ended) - Date.parse(job.started))}` : "";
    return job.metric === null ? took : `${metricText(job)}${took && ` ${took}`}`;
  }
  if (job.phase === "Running" && job.eta) {
    const left = Date.parse(job.eta) - now;
    return left > 1500 ? `${format.duration(left)} left` : "nearly done";
  }
  return "";
}

export function metricText(job) {
  return `${job.metricName ?? "metric"} ${format.metric(job.metric)}`;
}

/** Colours are given out in order of submission, so that they do not depend on who finished. */
export function assignColours(jobs) {
  [...jobs]
    .sort((a, b) => (a.submitted ?? "").localeCompare(b.submitted ?? "") || keyOf(a).localeCompare(keyOf(b)))
    .forEach((job) => lookOf(keyOf(job)));
}
