// Brings the stream of overviews, the chosen job and the charts together.

import { byId, el, setChildren, setText, show } from "./dom.js";
import { keepLooks, lookOf, paint } from "./colour.js";
import { drawAllocation } from "./charts.js";
import { renderAdvice } from "./advice.js";
import { renderCluster } from "./cluster.js";
import { assignColours, isOver, keyOf, renderJobs } from "./jobs.js";
import { renderDetail, renderHistory } from "./detail.js";
import { follow } from "./live.js";
import { ask, onToken } from "./access.js";
import { offerWhatIf } from "./whatif.js";
import * as format from "./format.js";

const HISTORY_MILLIS = 2000;
const LONGEST_WINDOW_MILLIS = 2 * 60 * 60 * 1000;

const state = { overview: null, timelines: [], history: null, historyKey: null, seenAt: 0 };
const asked = { timeline: "", history: "", historyAt: 0, later: 0 };

async function getJson(path) {
  const response = await ask(path);
  if (!response.ok) {
    throw new Error(`${path}: ${response.status}`);
  }
  return response.json();
}

function wantedKey() {
  return decodeURIComponent(location.hash.slice(1));
}

/** Whether the address names a job that is not there. */
function missing(jobs) {
  const wanted = wantedKey();
  return wanted.includes("/") && !jobs.some((job) => keyOf(job) === wanted);
}

/** The job that the address names, else the first one that runs, else the first. */
function chosenJob() {
  const jobs = state.overview?.jobs ?? [];
  const wanted = wantedKey();
  return jobs.find((job) => keyOf(job) === wanted) ?? jobs.find((job) => job.phase === "Running") ?? jobs[0] ?? null;
}

function render() {
  const { cluster, jobs } = state.overview;
  const chosen = chosenJob();
  keepLooks([...jobs, ...state.timelines].map(keyOf));
  assignColours(jobs);
  renderCluster(cluster, jobs);
  renderAdvice(cluster.advice);
  renderJobs(jobs, chosen && keyOf(chosen));
  show(byId("summary"), true);
  show(byId("empty"), jobs.length === 0);
  show(byId("jobs"), jobs.length > 0);
  show(byId("whatif"), jobs.some((job) => !isOver(job)));
  show(byId("detail"), chosen !== null);
  show(byId("missing"), missing(jobs));
  setText(byId("missing"), missing(jobs) ? `There is no job ${wantedKey()}; it may have been removed.` : "");
  show(byId("allocation"), state.timelines.length > 0);
  document.title = jobs.length ? `Kastor · ${cluster.slotsUsed} of ${cluster.slotsTotal} slots` : "Kastor";
  if (chosen) {
    renderDetail(chosen);
    if (state.history && state.historyKey === keyOf(chosen)) {
      renderHistory(chosen, state.history);
    }
  }
  renderAllocation(cluster.slotsTotal);
}

function renderAllocation(slotsTotal) {
  if (state.timelines.length === 0) {
    return;
  }
  const now = Date.now();
  const last = Math.max(...state.timelines.flatMap((line) => line.segments.filter((s) => s.replicas > 0).map((s) => s.to ?? now)));
  // Up to now; after hours without a job the last ones are still worth a look.
  const end = now - last < LONGEST_WINDOW_MILLIS ? Math.max(now, last) : last;
  const from = end - LONGEST_WINDOW_MILLIS;
  const lines = state.timelines
    .map((line) => ({
      key: keyOf(line),
      name: line.name,
      segments: line.segments
        .filter((s) => s.replicas > 0 && (s.to ?? end) > from)
        .map((s) => ({ ...s, from: Math.max(s.from, from), to: s.to })),
    }))
    .filter((line) => line.segments.length > 0);
  lines.forEach((line) => lookOf(line.key));
  setText(byId("allocation-hint"), `Slots held by each job${last < now ? `; nothing runs since ${format.moment(last)}` : ""}`);
  setChildren(byId("legend"), JSON.stringify(lines.map((line) => line.key)), () =>
    lines.map((line) => {
      const item = el("li", {}, el("span", { class: "swatch", "aria-hidden": "true" }), line.name);
      paint(item, line.key);
      return item;
    }));
  drawAllocation("chart-allocation", lines, slotsTotal, end);
}

/** Asks for the timeline when an allocation changed, and for the chosen job's history when it moved. */
async function refresh() {
  const { jobs } = state.overview;
  const allocations = JSON.stringify(jobs.map((job) => [keyOf(job), job.phase, job.replicas, job.since]));
  if (allocations !== asked.timeline) {
    state.timelines = await getJson("/api/v1/timeline");
    asked.timeline = allocations;
  }
  const chosen = chosenJob();
  if (chosen) {
    const key = keyOf(chosen);
    const signature = JSON.stringify(chosen);
    const wait = state.historyKey === key ? asked.historyAt + HISTORY_MILLIS - Date.now() : 0;
    if (signature === asked.history) {
      return;
    }
    if (wait > 0) {
      clearTimeout(asked.later);
      asked.later = setTimeout(update, wait);
      return;
    }
    asked.historyAt = Date.now();
    state.history = await getJson(`/api/v1/jobs/${encodeURIComponent(chosen.namespace)}/${encodeURIComponent(chosen.name)}/history`);
    state.historyKey = key;
    asked.history = signature;
  }
}

async function update() {
  if (!state.overview) {
    return;
  }
  try {
    await refresh();
  } catch (problem) {
    console.warn("A part of the page could not be loaded:", problem.message);
  }
  render();
}

function onState(link) {
  const dot = byId("link");
  if (link === "live") {
    state.seenAt = Date.now();
  }
  if (dot.dataset.state === link) {
    return;
  }
  dot.dataset.state = link;
  setText(byId("link-text"), link === "live" ? "Live" : "Reconnecting");
  const since = state.seenAt ? ` What you see is from ${format.clock(state.seenAt)}.` : "";
  setText(byId("notice"), link === "live" ? "" : `The connection to the operator is lost; trying again.${since}`);
  show(byId("notice"), link !== "live");
}

follow((overview) => {
  state.overview = overview;
  update();
}, onState);

onToken(update);
offerWhatIf();

addEventListener("hashchange", () => update().then(bringDetailIntoView));

/** Only where choosing would otherwise show no effect: on a phone the job is far below its card. */
function bringDetailIntoView() {
  const detail = byId("detail");
  if (detail.getBoundingClientRect().top > innerHeight * 0.6) {
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    detail.scrollIntoView({ behavior: calm ? "auto" : "smooth", block: "start" });
  }
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", update);
// Times run on between overviews.
setInterval(() => {
  if (state.overview?.jobs.some((job) => !isOver(job)) && byId("link").dataset.state === "live") {
    update();
  }
}, 1000);
