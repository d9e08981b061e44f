"use strict";

const byId = (id) => document.getElementById(id);
const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
// Twelve colours and three kinds of lines, of which each has eight: no two of 24 look the same.
const COLOURS = 12;
const DASHES = [null, [6, 3], [2, 2]];
const seriesColour = (i) => token(`--series-${(i % COLOURS) + 1}`);
const seriesDash = (i) => DASHES[Math.floor(i / 8) % DASHES.length];
const number = (value, digits) => value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
const charts = [];

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** A sample of the i-th series. */
function swatch(i) {
  const made = element("span", { className: "swatch" });
  const [on, off] = seriesDash(i) ?? [1, 0];
  const colour = seriesColour(i);
  made.style.background = off ? `repeating-linear-gradient(90deg, ${colour} 0 ${on}px, transparent ${on}px ${on + off}px)` : colour;
  return made;
}

function time(seconds) {
  return seconds < 7200 ? `${number(seconds, 0)} s` : `${number(seconds / 3600, 2)} h`;
}

// Title, value of a run, how it reads, and whether the smallest is best.
const COLUMNS = [
  ["mean JCT", (run) => run.mean, time, true],
  ["over bound", (run) => run.overBound, (value) => number(value, 3), true],
  ["p50", (run) => run.p50, time, true],
  ["p90", (run) => run.p90, time, true],
  ["p99", (run) => run.p99, time, true],
  ["makespan", (run) => run.makespan, time, true],
  ["GPU-hours", (run) => run.gpuHours, (value) => number(value, 1), true],
  ["restarts", (run) => run.restarts, (value) => number(value, 0), false],
  ["moves", (run) => run.moves, (value) => number(value, 0), false],
  ["worst FTF", (run) => run.worst, (value) => number(value, 2), true],
  ["FTF > 1", (run) => run.above, (value) => `${number(100 * value, 0)} %`, true],
  ["nodes cost", (run) => run.nodeMoney, (value) => number(value, 2), true],
  ["jobs cost", (run) => run.jobMoney, (value) => number(value, 2), true],
  ["decision", (run) => run.decision, (value) => `${number(value, 2)} ms`, false],
];

function drawSummary(group) {
  const head = element("tr", {}, element("th", { scope: "col" }, "policy"));
  const columns = COLUMNS.filter(([, value]) => value(group.runs[0]) !== undefined);
  columns.forEach(([title]) => head.append(element("th", { scope: "col" }, title)));
  const rows = group.runs.map((run, i) => {
    const row = element("tr", {}, element("td", {}, swatch(i), run.policy));
    columns.forEach(([, value, text, ranked]) => {
      const best = ranked && group.runs.length > 1 && value(run) === Math.min(...group.runs.map(value));
      row.append(element("td", { className: best ? "best" : "" }, text(value(run))));
    });
    return row;
  });
  byId("summary").replaceChildren(element("thead", {}, head), element("tbody", {}, ...rows));
}

/** Hours as people say them; all of one axis in one unit. */
function clock(group) {
  const inMinutes = group.spanHours * group.runs[0].queued.length < 3;
  return (hours) => (inMinutes ? `${+(hours * 60).toPrecision(3)} min` : `${+hours.toPrecision(3)} h`);
}

const axisText = () => ({ color: token("--muted"), fontSize: 11, hideOverlap: true });

function hourAxis(group, extra) {
  return {
    axisLine: { lineStyle: { color: token("--line") } },
    axisTick: { show: false },
    axisLabel: { ...axisText(), formatter: clock(group), showMinLabel: false, showMaxLabel: false },
    splitLine: { show: false },
    ...extra,
  };
}

function valueAxis(extra) {
  return { type: "value", splitNumber: 4, min: 0, axisLabel: axisText(), splitLine: { lineStyle: { color: token("--line") } }, ...extra };
}

function tooltip(read, head, column = 1) {
  return {
    trigger: "axis",
    confine: true,
    backgroundColor: token("--surface"),
    borderColor: token("--line"),
    textStyle: { color: token("--text"), fontSize: 12 },
    axisPointer: { lineStyle: { color: token("--muted"), type: "solid" } },
    // Built from nodes, never from markup: names come from files.
    formatter: (points) =>
      element(
        "div",
        {},
        element("b", {}, head(points[0].value[0])),
        ...points
          .filter((point) => point.value[column] !== null && !(column > 1 && point.value[column] === 0))
          .map((point) => element("div", {}, swatch(Number(point.seriesId)), `${point.seriesName}  ${read(point.value[column])}`)),
      ),
  };
}

const grid = { left: 44, right: 16, top: 14, bottom: 24 };

/** Above the chart and made of text, so that it wraps where there is little room. */
function drawPolicies(group) {
  document.querySelectorAll(".policies").forEach((list) =>
    list.replaceChildren(...group.runs.map((run, i) => element("li", {}, swatch(i), run.policy))),
  );
}

function draw(target, option) {
  const chart = echarts.init(target, null, { renderer: "canvas" });
  chart.setOption({ animation: false, ...option });
  charts.push(chart);
}

function line(run, i, data) {
  return {
    type: "line",
    id: String(i),
    name: run.policy,
    data,
    showSymbol: false,
    color: seriesColour(i),
    lineStyle: { width: 1.75, type: seriesDash(i) ?? "solid" },
    emphasis: { disabled: true },
  };
}

function drawLines(id, group, values, read, axis) {
  draw(byId(id), {
    grid,
    tooltip: tooltip(read, clock(group)),
    xAxis: hourAxis(group, { type: "value", min: 0, max: group.spanHours * group.runs[0].queued.length }),
    yAxis: valueAxis(axis),
    series: group.runs.map((run, i) => line(run, i, values(run).map((value, at) => [(at + 0.5) * group.spanHours, value]))),
  });
}

/** Piles of areas, the tallest first, so that each hides the foot of the one behind it. */
function piles(group, run, names) {
  const pile = run.queued.map(() => 0);
  return names
    .filter((name) => run.applications[name])
    .map((name) => {
      const data = run.applications[name].map((own, at) => [(at + 0.5) * group.spanHours, (pile[at] += own), own]);
      const i = names.indexOf(name);
      const colour = seriesColour(i);
      const [on, off] = seriesDash(i) ?? [1, 0];
      const decal = off ? { symbol: "rect", symbolSize: 1, dashArrayX: [off, on], dashArrayY: [1, 0], color: token("--surface") } : null;
      return { type: "line", id: String(i), name, data, showSymbol: false, color: colour, lineStyle: { width: 0 }, areaStyle: { color: colour, opacity: 1 }, itemStyle: { decal }, emphasis: { disabled: true } };
    })
    .reverse();
}

function drawAllocations(group) {
  const names = [...new Set(group.runs.flatMap((run) => Object.keys(run.applications)))].sort();
  byId("legend").replaceChildren(...names.map((name, i) => element("li", {}, swatch(i), name)));
  byId("allocations").replaceChildren();
  group.runs.forEach((run) => {
    const target = element("div", { className: "chart low" });
    byId("allocations").append(element("h3", {}, run.policy), target);
    draw(target, {
      grid,
      tooltip: tooltip((value) => number(value, 1), clock(group), 2),
      xAxis: hourAxis(group, { type: "value", min: 0, max: group.spanHours * run.queued.length }),
      yAxis: valueAxis({ max: group.gpus, interval: group.gpus / 2 }),
      series: piles(group, run, names),
    });
  });
}

function show(group) {
  charts.splice(0).forEach((chart) => chart.dispose());
  byId("about").textContent = `${group.title}: ${number(group.jobs, 0)} jobs on ${group.cluster} (${number(group.gpus, 0)} GPUs), mode ${group.mode}, seed ${group.seed}${group.assumptions && `; ${group.assumptions}`}${group.bound === undefined ? "" : `. ${group.bound}`}`;
  drawSummary(group);
  drawPolicies(group);
  draw(byId("cdf"), {
    grid,
    tooltip: tooltip((value) => `${number(value, 1)} %`, clock(group)),
    xAxis: hourAxis(group, { type: "log", min: Math.min(...group.runs.map((run) => run.cdf[0][0])) || undefined, max: Math.max(...group.runs.map((run) => run.cdf.at(-1)[0])) }),
    yAxis: valueAxis({ max: 100, interval: 25, axisLabel: { ...axisText(), formatter: "{value} %" } }),
    series: group.runs.map((run, i) => line(run, i, run.cdf)),
  });
  const percent = (value) => `${number(100 * value, 1)} %`;
  const shares = { max: 1, interval: 0.25, axisLabel: { ...axisText(), formatter: (value) => `${Math.round(100 * value)} %` } };
  drawLines("queue", group, (run) => run.queued, (value) => number(value, 1), { minInterval: 1 });
  drawLines("utilisation", group, (run) => run.utilisation, percent, shares);
  drawLines("efficiency", group, (run) => run.efficiency, percent, shares);
  drawAllocations(group);
}

DATA.groups.forEach((group, i) => byId("group").append(element("option", { value: i }, group.title)));
byId("choice").hidden = DATA.groups.length < 2;
const chosen = () => DATA.groups[Number(byId("group").value)];
byId("group").addEventListener("change", () => show(chosen()));
window.addEventListener("resize", () => charts.forEach((chart) => chart.resize()));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => show(chosen()));
show(DATA.groups[0]);
