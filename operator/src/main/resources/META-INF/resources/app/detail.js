// The chosen job: why it has its size, how it does, and what it would do at other sizes.

import { byId, el, setChildren, setText, show } from "./dom.js";
import { jobColour, paint } from "./colour.js";
import { drawLine, drawPrediction } from "./charts.js";
import { ending, isOver, keyOf, metricText } from "./jobs.js";
import { renderServers } from "./servers.js";
import * as format from "./format.js";

const MOST_DECISIONS = 8;
const MOST_SCALARS = 24;
const STILL_MILLIS = 15_000;
const IMAGES = /^(glyph|image)-/;
const WHY = {
  Queued: "Why it waits",
  Starting: "Why this size",
  Running: "Why this size",
  Suspended: "Why it holds no slots",
  Succeeded: "How it ended",
  Failed: "How it ended",
};

export function renderDetail(job) {
  paint(byId("detail"), keyOf(job));
  setText(byId("detail-name"), job.name);
  setText(byId("detail-phase"), job.phase);
  byId("detail-phase").dataset.phase = job.phase;
  setText(byId("detail-hint"), [job.program, job.submitted && `submitted ${format.moment(Date.parse(job.submitted))}`, ending(job, Date.now())].filter(Boolean).join(" · "));
  // A drawing is for networks of images that have been saved.
  show(byId("detail-draw"), job.checkpointStep !== null && IMAGES.test(job.program));
  byId("detail-draw").href = `/draw.html?${new URLSearchParams({ job: keyOf(job) })}`;
  renderWhy(job);
  renderFacts(job);
  const predicted = Object.keys(job.predictedGoodput).length > 0;
  show(byId("figure-predicted"), predicted);
  if (predicted) {
    drawPrediction("chart-predicted", job.predictedGoodput, job.replicas, jobColour(keyOf(job)));
  }
}

function renderWhy(job) {
  const range = job.minReplicas === job.maxReplicas ? `always ${job.maxReplicas}` : `between ${job.minReplicas} and ${job.maxReplicas}`;
  const moving = job.phase === "Running" && job.trainingReplicas !== null && job.trainingReplicas !== job.replicas;
  setText(byId("why-title"), WHY[job.phase]);
  setText(byId("why-size"), isOver(job) ? job.phase : moving ? `${job.trainingReplicas} → ${format.plural(job.replicas, "replica")}` : format.plural(job.replicas, "replica"));
  const placed = job.phase === "Running" || job.phase === "Starting";
  const sentence = placed ? job.message : (job.note ?? (isOver(job) ? null : job.message));
  setText(byId("why-message"), sentence ?? (isOver(job) ? ending(job, Date.now()) : "The scheduler has not decided about this job yet."));
  const nodes = Object.entries(job.nodes).map(([node, n]) => `${node} × ${n}`).join(", ");
  const parts = [
    placed && job.reason,
    job.since && !isOver(job) && `since ${format.moment(Date.parse(job.since))}`,
    nodes && `on ${nodes}`,
    job.slotsPerReplica > 1 && `${job.slotsPerReplica} GPUs each`,
    isOver(job) ? job.ended && `at ${format.moment(Date.parse(job.ended))}` : range,
  ];
  setText(byId("why-meta"), parts.filter(Boolean).join(" · "));
}

function renderFacts(job) {
  const facts = [];
  const fact = (name, value, sub = "", className = null) => facts.push({ name, value, sub, className });
  if (job.metric !== null) {
    fact("Held-out result", metricText(job));
  }
  if (job.batch) {
    const passes = job.batch.accumulationSteps + 1;
    fact("Global batch", format.count(job.batch.global), `${job.batch.atomic} per replica${passes > 1 ? `, ${passes} passes` : ""}`);
  }
  if (isOver(job) && job.ran) {
    fact("Ran with", `${format.range(job.ran.minReplicas, job.ran.maxReplicas)} replicas`, `batch ${format.range(job.ran.minGlobalBatch, job.ran.maxGlobalBatch)}`);
  }
  fact("Throughput", job.throughput === null ? format.NONE : `${format.measure(job.throughput)}/s`, "examples");
  fact("Gradient noise", job.noiseScale === null ? format.NONE : format.measure(job.noiseScale), "scale in examples");
  fact("Training loss", format.measure(job.loss), job.step === null ? "" : `step ${format.count(job.step)}`);
  fact("Live rescales", format.count(job.rescales), `${job.grows} up, ${job.shrinks} down`);
  fact("Pause", job.medianPauseMillis === null ? format.NONE : format.pause(job.medianPauseMillis), job.maxPauseMillis === null ? "" : `longest ${format.pause(job.maxPauseMillis)}`);
  fact("Restarts", format.count(job.restarts), "from a checkpoint");
  if (job.checkpointStep !== null) {
    fact("Checkpoint", `step ${format.count(job.checkpointStep)}`, job.checkpointTime ? format.moment(Date.parse(job.checkpointTime)) : "");
  }
  if (job.lostOrRepeatedExamples !== null) {
    fact("Lost or repeated", format.count(job.lostOrRepeatedExamples), "examples", job.lostOrRepeatedExamples > 0 ? "bad" : null);
  }
  setChildren(byId("facts"), JSON.stringify(facts), () =>
    facts.map(({ name, value, sub, className }) =>
      el("div", {}, el("dt", {}, name), el("dd", { class: className }, value, ...(sub ? [el("span", { class: "sub" }, sub)] : [])))));
}

export function renderHistory(job, history) {
  const { series, scalars, timeline, servers } = history;
  const measured = series.epochMillis.length > 0;
  show(byId("measured"), measured);
  show(byId("unmeasured"), !measured);
  setText(byId("unmeasured"), isOver(job) ? "It ended before anything was measured." : "Measurements appear here once the job trains.");
  show(byId("scalars-block"), measured && Object.keys(scalars).length > 0);
  if (measured) {
    const range = timeRange(job, series.epochMillis, timeline);
    drawSeries(job, series, timeline, range);
    drawScalars(job, scalars, range);
  }
  renderServers(job, servers);
  renderDecisions(job, timeline);
}

/** The time that all charts of a job show. */
function timeRange(job, at, timeline) {
  const starts = [at[0], ...timeline.filter((s) => s.replicas > 0).slice(0, 1).map((s) => s.from)];
  const ends = [at.at(-1), ...timeline.slice(-1).map((s) => s.to ?? (isOver(job) ? s.from : Date.now()))];
  return [Math.min(...starts), Math.max(...ends)];
}

function drawSeries(job, series, timeline, range) {
  const at = series.epochMillis;
  const colour = jobColour(keyOf(job));
  const points = (values) => values.map((value, i) => [at[i], value]).filter(([, value]) => value !== null);
  const zip = (values) => interrupted(points(values), null);
  const steps = (values) => interrupted(points(values), 0);
  const held = timeline.flatMap((s) => [[s.from, s.replicas], ...(s.to === null ? [] : [[s.to, s.replicas]])]);
  end(job, timeline).forEach(({ at: last }) => held.push([last, 0]));
  const draw = (id, lines, extra = {}) => drawLine(id, { lines, range, colour, ...extra });

  draw("chart-loss", [{ name: "Loss", data: zip(series.loss) }], { axis: { scale: true } });
  draw("chart-goodput", [
    { name: "Goodput", data: zip(series.goodput) },
    { name: "Throughput", data: zip(series.throughput) },
  ]);
  draw("chart-efficiency", [{ name: "Efficiency", data: zip(series.efficiency) }], {
    axis: { min: 0, max: 1, interval: 0.5 },
    tick: format.percent,
    value: format.percent,
  });
  draw("chart-replicas", [
    { name: "Training", data: hold(steps(series.replicas), range[1], isOver(job)) },
    { name: "Allocated", data: hold(held, range[1], isOver(job)) },
  ], { step: true, axis: { min: 0, minInterval: 1 }, value: format.count });
  draw("chart-batch", [{ name: "Global batch", data: hold(steps(series.globalBatch), range[1], isOver(job)) }], {
    step: true, axis: { min: 0, minInterval: 1 }, value: format.count,
  });
}

function drawScalars(job, scalars, range) {
  const names = Object.keys(scalars);
  const shown = names.slice(0, MOST_SCALARS);
  shown.forEach((name, i) => {
    const figure = scalarFigure(i);
    show(figure, true);
    setText(figure.firstElementChild, name);
    const { epochMillis, value } = scalars[name];
    drawLine(figure.lastElementChild.id, {
      lines: [{ name, data: value.map((each, n) => [epochMillis[n], each]) }],
      range,
      colour: jobColour(keyOf(job)),
      axis: { scale: true },
    });
  });
  [...byId("scalars").children].slice(shown.length).forEach((figure) => show(figure, false));
  const more = names.length - shown.length;
  setText(byId("scalars-hint"), more > 0 ? `${format.plural(more, "more series", "more series")}: kastor metrics ${job.name}` : "");
}

/** A figure that is used again for other jobs and names, as a chart stays with its element. */
function scalarFigure(i) {
  const figures = byId("scalars").children;
  if (i === figures.length) {
    byId("scalars").append(
      el("figure", {}, el("figcaption"), el("div", { class: "chart chart-small", id: `chart-scalar-${i}`, role: "img" })));
  }
  return figures[i];
}

/** Where nothing was reported for long, the job stood still: there the line has this value. */
function interrupted(points, value) {
  return points.flatMap((point, i) =>
    i > 0 && point[0] - points[i - 1][0] > STILL_MILLIS ? [[points[i - 1][0] + 1, value], [point[0] - 1, value], point] : [point]);
}

/** A step that still holds reaches the right edge. */
function hold(points, end, over) {
  return points.length && !over ? [...points, [end, points.at(-1)[1]]] : points;
}

function renderDecisions(job, timeline) {
  show(byId("decisions-block"), timeline.length > 0);
  const changes = [...timeline.map((s, i) => ({ at: s.from, before: i ? timeline[i - 1].replicas : 0, after: s.replicas, text: s.message })), ...end(job, timeline)];
  const newest = changes.slice(-MOST_DECISIONS).reverse();
  setChildren(byId("decisions"), JSON.stringify(newest), () =>
    newest.map(({ at, before, after, text }) =>
      el("li", {},
        el("time", { datetime: new Date(at).toISOString() }, format.clock(at)),
        el("span", { class: "step" }, `${before} → ${after}`),
        el("span", { class: "text" }, text))));
}

/** What became of the last replicas of a job that is over: no policy decided it. */
function end(job, timeline) {
  const { to, replicas } = timeline.at(-1) ?? {};
  return isOver(job) && to && replicas > 0 ? [{ at: to, before: replicas, after: 0, text: job.note ?? `${job.phase}.` }] : [];
}
