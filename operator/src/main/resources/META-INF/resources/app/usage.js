// The report of usage: GPU-hours that jobs held, what became of them, and their cost.

import { byId, el, setChildren, setText, show } from "./dom.js";
import { ask, onToken } from "./access.js";
import { csvOf } from "./csv.js";
import * as format from "./format.js";

const HOUR_MILLIS = 3_600_000;
const DAY_MILLIS = 24 * HOUR_MILLIS;
const MICROS = 1_000_000;
const REFRESH_MILLIS = 30_000;
const USUAL_DAYS = 29;

/** Uses of held GPUs, in the order of the bars. */
const USES = [
  ["useful", "Useful", "training, as far as it was worth what the same GPUs could do at best"],
  ["inefficient", "Inefficient", "the rest of training"],
  ["starting", "Starting", "held before the job trained"],
  ["rescaling", "Rescaling", "held for a change of size or place, and its pauses"],
  ["failures", "Failures", "missing after a failure, and work that was done again"],
  ["unknown", "Unknown", "training of jobs that report no goodput, and time in which no operator ran"],
];

let asked = 0;

const dayBefore = (days) => new Date(Date.now() - days * DAY_MILLIS).toISOString().slice(0, 10);
const chosen = () => ({ by: byId("by").value, since: byId("since").value });
const nameOf = (row) => row.name || "(none)";
const hours = (millis) => format.hours(millis / HOUR_MILLIS);
const sum = (rows, part) => rows.reduce((all, row) => all + row[part], 0);
const share = (part, whole) => (whole > 0 ? format.percent(part / whole) : format.NONE);

/** What the address says, else the usual. */
function readAddress() {
  const said = new URLSearchParams(location.hash.slice(1));
  const known = [...byId("by").options].map((option) => option.value);
  byId("by").value = known.includes(said.get("by")) ? said.get("by") : "queue";
  byId("since").value = said.get("since") ?? "";
  if (!byId("since").value) {
    byId("since").value = dayBefore(USUAL_DAYS);
  }
}

async function load() {
  const { by, since } = chosen();
  if (!since) {
    return;
  }
  const mine = ++asked;
  for (const button of byId("spans").children) {
    button.setAttribute("aria-pressed", String(dayBefore(Number(button.dataset.days)) === since));
  }
  let problem = "";
  try {
    const response = await ask(`/api/v1/usage?${new URLSearchParams({ by, since })}`);
    const answer = await response.json();
    if (mine !== asked) {
      return;
    }
    if (response.ok) {
      render(by, answer);
    } else if (response.status !== 401) {
      problem = answer.error ?? `The operator answers ${response.status}.`;
    }
  } catch (failure) {
    console.warn("The report could not be loaded:", failure.message);
    problem = "The operator does not answer; trying again.";
  }
  if (mine === asked) {
    setText(byId("notice"), problem);
    show(byId("notice"), problem !== "");
  }
}

function render(by, report) {
  const rows = report.rows.toSorted((a, b) => b.held - a.held || nameOf(a).localeCompare(nameOf(b)));
  const all = { ...Object.fromEntries(["held", "costMicros", "unpriced", ...USES.map(([use]) => use)].map((part) => [part, sum(rows, part)])) };
  const priced = rows.some((row) => row.costMicros > 0);
  const used = rows.length > 0;
  show(byId("totals"), used);
  show(byId("report"), used);
  show(byId("empty"), !used);
  setText(byId("empty-since"), `since ${report.since} 00:00 UTC`);
  setText(byId("total-held"), hours(all.held));
  setText(byId("total-useful"), share(all.useful, all.held));
  show(byId("tile-cost"), priced);
  setText(byId("total-cost"), format.money(all.costMicros / MICROS));
  setText(byId("note-cost"), all.unpriced > 0 ? `without ${hours(all.unpriced)} GPU-hours on nodes that have no price` : "");
  setText(byId("report-title"), `GPU-hours by ${by} since ${report.since} 00:00 UTC`);
  renderLegend();
  renderRows(by, rows, priced);
  renderCsv(by, report);
}

function renderLegend() {
  setChildren(byId("legend"), "uses", () =>
    USES.map(([use, name, what]) => el("li", { title: what }, el("span", { class: `swatch use-${use}`, "aria-hidden": "true" }), name)));
}

function renderRows(by, rows, priced) {
  const columns = [by, "Held", "Use", "Useful", ...USES.slice(1).map(([, name]) => name), ...(priced ? ["Cost"] : [])];
  setChildren(byId("head"), JSON.stringify(columns), () =>
    columns.map((name, index) => el("th", { role: "columnheader", scope: "col", class: index === 0 || name === "Use" ? null : "num" }, name[0].toUpperCase() + name.slice(1))));
  const largest = Math.max(...rows.map((row) => row.held));
  setChildren(byId("rows"), JSON.stringify([by, rows, priced]), () => rows.map((row) => rowOf(row, largest, priced)));
}

function rowOf(row, largest, priced) {
  const cell = (label, text, kind = "num") => el("td", { role: "cell", class: kind, "data-label": label }, text);
  const cost = row.unpriced === row.held ? format.NONE : format.money(row.costMicros / MICROS);
  return el(
    "tr",
    { role: "row" },
    el("th", { role: "rowheader", scope: "row", class: "usage-name" }, nameOf(row)),
    cell("Held", hours(row.held)),
    el("td", { role: "cell", class: "usage-bar" }, bar(row, largest)),
    cell("Useful", share(row.useful, row.held)),
    ...USES.slice(1).map(([use, name]) => cell(name, hours(row[use]))),
    ...(priced ? [cell("Cost", cost)] : []),
  );
}

/** Uses of a row as one bar, as long as the row holds of what the largest one held. */
function bar(row, largest) {
  const said = USES.filter(([use]) => row[use] > 0).map(([use, name]) => `${name} ${share(row[use], row.held)}`);
  const line = el("span", { class: "uses", role: "img", "aria-label": said.join(", "), title: said.join(", ") });
  line.style.width = `${Math.max(2, (100 * row.held) / largest)}%`;
  for (const [use] of USES) {
    if (row[use] > 0) {
      const part = el("span", { class: `use-${use}` });
      part.style.flexGrow = String(row[use] / row.held);
      line.append(part);
    }
  }
  return line;
}

/** A link to the report as a file; it is made here, as a link cannot show a token. */
function renderCsv(by, report) {
  const link = byId("csv");
  URL.revokeObjectURL(link.href);
  link.href = URL.createObjectURL(new Blob([csvOf(by, report)], { type: "text/csv" }));
  link.download = `usage-by-${by}-since-${report.since}.csv`;
  show(link, true);
}

function choose() {
  history.replaceState(null, "", `#${new URLSearchParams(chosen())}`);
  load();
}

byId("choice").addEventListener("submit", (event) => event.preventDefault());
byId("by").addEventListener("change", choose);
byId("since").addEventListener("change", choose);
byId("spans").addEventListener("click", (event) => {
  const days = event.target.dataset.days;
  if (days !== undefined) {
    byId("since").value = dayBefore(Number(days));
    choose();
  }
});
addEventListener("hashchange", () => {
  readAddress();
  load();
});
onToken(load);
setInterval(() => {
  if (!document.hidden && byId("access").hidden) {
    load();
  }
}, REFRESH_MILLIS);

byId("since").max = dayBefore(0);
readAddress();
load();
