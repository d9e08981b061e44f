// Everything that is drawn with ECharts. No animation: values arrive every second.

import * as echarts from "/_static/echarts/6.0.0/dist/echarts.esm.min.js";
import { byId, el } from "./dom.js";
import { jobColour, jobDecal, paint, token } from "./colour.js";
import * as format from "./format.js";

// Series are exchanged as a whole, all else is merged: an open tooltip stays open.
const KEEP_TOOLTIP = { replaceMerge: ["series"] };
const charts = new Map();

function chart(id) {
  if (!charts.has(id)) {
    const made = echarts.init(byId(id), null, { renderer: "canvas" });
    charts.set(id, made);
    new ResizeObserver(() => made.resize()).observe(byId(id));
  }
  return charts.get(id);
}

function axisText() {
  return { color: token("--muted"), fontSize: 11, hideOverlap: true };
}

function timeAxis(range) {
  const [min, max] = range;
  const seconds = max - min < 20 * 60 * 1000;
  const time = { hour: "2-digit", minute: "2-digit", ...(seconds && { second: "2-digit" }) };
  return {
    type: "time",
    min,
    max: Math.max(max, min + 10000),
    splitNumber: 3,
    axisLine: { lineStyle: { color: token("--line") } },
    axisTick: { show: false },
    axisLabel: { ...axisText(), showMinLabel: false, showMaxLabel: false, formatter: (at) => new Date(at).toLocaleTimeString("en-GB", time) },
    splitLine: { show: false },
  };
}

function valueAxis(extra = {}) {
  return {
    type: "value",
    splitNumber: 3,
    axisLabel: { ...axisText(), formatter: format.tick },
    splitLine: { lineStyle: { color: token("--line") } },
    ...extra,
  };
}

/** Built from nodes, never from markup. */
function tooltip(format1, trigger = "axis") {
  return {
    trigger,
    confine: true,
    transitionDuration: 0,
    backgroundColor: token("--surface"),
    borderColor: token("--line"),
    borderWidth: 1,
    padding: [6, 10],
    extraCssText: "box-shadow: 0 2px 10px rgb(0 0 0 / 12%)",
    axisPointer: { type: "line", lineStyle: { color: token("--muted"), type: "solid", width: 1, opacity: 0.5 }, label: { show: false } },
    formatter: (points) => {
      const list = (Array.isArray(points) ? points : [points]).filter((point) => point.value?.[1] !== null);
      return tip(list, format1);
    },
  };
}

function tip(points, value, mark = (swatch, point) => (swatch.style.background = point.color)) {
  if (points.length === 0) {
    return el("div");
  }
  const first = points[0];
  const head = first.axisType === "xAxis.time" ? format.clock(first.value[0]) : first.name;
  return el(
    "div",
    { class: "tip" },
    el("div", { class: "tip-head" }, head),
    ...points
      .filter((point) => !(point.seriesIndex > 0 && point.value[1] === 0))
      .map((point) => {
        const swatch = el("span", { class: "swatch" });
        mark(swatch, point);
        return el("div", { class: "tip-row" }, swatch, point.seriesName, el("b", {}, value(point.value[1], point)));
      }),
  );
}

const BASE = {
  animation: false,
  // A fixed frame: labels that come and go must not move the picture. On the left is room for the
  // longest mark (format.tick), on the right for half a time.
  grid: { left: 56, right: 30, top: 12, bottom: 24, outerBoundsMode: "none" },
};

/** One measurement of the chosen job over time. */
export function drawLine(id, { lines, range, colour, step = false, axis = {}, value = format.measure, tick = format.tick }) {
  chart(id).setOption(
    {
      ...BASE,
      tooltip: tooltip(value),
      xAxis: timeAxis(range),
      yAxis: valueAxis({ ...axis, axisLabel: { ...axisText(), formatter: tick } }),
      series: lines.map((line, i) => ({
        type: "line",
        name: line.name,
        data: line.data,
        step: step ? "end" : false,
        showSymbol: false,
        smooth: false,
        color: i === 0 ? colour : token("--muted"),
        lineStyle: { width: i === 0 ? 2 : 1.25, type: i === 0 ? "solid" : [4, 4] },
        areaStyle: i === 0 ? { color: colour, opacity: 0.1 } : undefined,
        z: i === 0 ? 3 : 2,
        emphasis: { disabled: true },
      })),
    },
    KEEP_TOOLTIP,
  );
  describe(id, lines, value);
}

/** Predicted goodput by replica count, the present size in full colour. */
export function drawPrediction(id, prediction, replicas, colour) {
  const sizes = Object.keys(prediction).map(Number).sort((a, b) => a - b);
  chart(id).setOption(
    {
      ...BASE,
      tooltip: { ...tooltip(format.measure, "item"), formatter: (bar) => el("div", { class: "tip" }, el("div", { class: "tip-head" }, format.plural(Number(bar.name), "replica")), `${format.measure(bar.value)} examples/s`) },
      xAxis: {
        type: "category",
        data: sizes.map(String),
        axisLine: { lineStyle: { color: token("--line") } },
        axisTick: { show: false },
        axisLabel: axisText(),
      },
      yAxis: valueAxis(),
      series: [
        {
          type: "bar",
          barMaxWidth: 36,
          barCategoryGap: "28%",
          emphasis: { disabled: true },
          data: sizes.map((size) => ({
            value: prediction[size],
            itemStyle: { color: colour, opacity: size === replicas ? 1 : 0.32, borderRadius: [3, 3, 0, 0] },
          })),
        },
      ],
    },
    KEEP_TOOLTIP,
  );
  const text = sizes.map((size) => `${size}: ${format.measure(prediction[size])}`).join(", ");
  byId(id).setAttribute("aria-label", `Predicted goodput by replicas: ${text}`);
}

/** Slots over time up to an instant, stacked by job. */
export function drawAllocation(id, timelines, slotsTotal, until) {
  const borders = timelines.flatMap((line) => line.segments.flatMap((s) => [s.from, s.to ?? until]));
  const instants = [...new Set([...borders, until])].sort((a, b) => a - b);
  const end = instants.at(-1);
  const held = (line, at) => line.segments.find((s) => s.from <= at && at < (s.to ?? end))?.slots ?? 0;
  const series = timelines.map((line) => {
    const colour = jobColour(line.key);
    return {
      type: "line",
      id: line.key,
      name: line.name,
      stack: "slots",
      step: "end",
      showSymbol: false,
      color: colour,
      lineStyle: { width: 0 },
      areaStyle: { color: colour, opacity: 0.88 },
      itemStyle: { decal: jobDecal(line.key) },
      emphasis: { disabled: true },
      // The last point repeats what held until then.
      data: instants.map((at) => [at, held(line, at === end ? at - 1 : at)]),
    };
  });
  const most = Math.max(slotsTotal, ...instants.map((at) => timelines.reduce((sum, line) => sum + held(line, at), 0)));
  chart(id).setOption(
    {
      ...BASE,
      tooltip: { ...tooltip(format.count), formatter: (points) => tip(points.filter((p) => p.value[1] > 0), format.count, (swatch, point) => paint(swatch, point.seriesId)) },
      xAxis: { ...timeAxis([instants[0], end]), splitNumber: 6 },
      yAxis: valueAxis({ max: most, minInterval: 1, interval: niceInterval(most), axisLabel: { ...axisText(), formatter: format.count } }),
      series,
    },
    KEEP_TOOLTIP,
  );
  const present = (line) => line.segments.find((s) => s.to === null)?.slots ?? 0;
  const text = timelines
    .filter((line) => present(line) > 0)
    .map((line) => `${line.name} ${present(line)}`)
    .join(", ");
  byId(id).setAttribute("aria-label", `Slots by job over time. Now: ${text || "none in use"}, of ${slotsTotal}.`);
}

/** Divides the total into at most four equal whole parts where that is possible. */
function niceInterval(total) {
  return [4, 3, 2, 1].map((parts) => total / parts).find(Number.isInteger) ?? total;
}

function describe(id, lines, value) {
  const points = lines[0].data.filter((point) => point[1] !== null);
  const last = points.at(-1);
  byId(id).setAttribute(
    "aria-label",
    last ? `${lines[0].name} over time: from ${value(points[0][1])} to ${value(last[1])}` : `${lines[0].name}: nothing measured yet`,
  );
}
