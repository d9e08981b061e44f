// Form that asks what a change would bring, and the operator's answer.

import { byId, el, setText, show } from "./dom.js";
import { ask } from "./access.js";
import * as format from "./format.js";

const PATH = "/api/v1/whatif";
const JSON_TYPE = { "Content-Type": "application/json" };

let choices = null;

/** Offers the form; what there is to choose from is asked for when it is opened. */
export function offerWhatIf() {
  byId("whatif").addEventListener("toggle", () => byId("whatif").open && load());
  byId("whatif-change").addEventListener("change", showFields);
  byId("whatif-queue").addEventListener("change", fillNumbers);
  byId("whatif-job").addEventListener("change", fillNumbers);
  byId("whatif-form").addEventListener("submit", (event) => {
    event.preventDefault();
    tell();
  });
  showFields();
}

async function load() {
  try {
    choices = await json(await ask(PATH));
  } catch (problem) {
    refuse(problem.message);
    return;
  }
  const jobs = choices.jobs.map(({ namespace, name }) => `${namespace}/${name}`);
  options("whatif-policy", choices.policies.filter((name) => name !== choices.policy));
  options("whatif-type", choices.nodes.map((each) => each.gpuType), choices.nodes.map(named));
  options("whatif-queue", choices.queues.map((queue) => queue.name));
  options("whatif-job", jobs);
  options("whatif-like", jobs);
  fillNumbers();
  showFields();
}

function named({ gpuType, nodes }) {
  return `${gpuType || "any"}, ${format.plural(nodes, "node")} now`;
}

/** Fills a list and keeps what was chosen where it is still there. */
function options(id, values, texts = values) {
  const list = byId(id);
  const before = list.value;
  list.replaceChildren(...values.map((value, i) => el("option", { value }, texts[i])));
  if (values.includes(before)) {
    list.value = before;
  }
}

/** Numbers begin with what they are now. */
function fillNumbers() {
  const queue = choices?.queues.find((each) => each.name === byId("whatif-queue").value);
  byId("whatif-gpus").value = queue?.gpus ?? 0;
  const job = choices?.jobs.find((each) => `${each.namespace}/${each.name}` === byId("whatif-job").value);
  byId("whatif-priority").value = job?.priority ?? 0;
}

/** Shows what belongs to the chosen change, and whether there is anything to ask about. */
function showFields() {
  const change = byId("whatif-change").value;
  let empty = false;
  for (const field of byId("whatif-form").querySelectorAll("[data-for]")) {
    const wanted = field.dataset.for === change;
    show(field, wanted);
    const control = field.querySelector("select, input");
    control.disabled = !wanted;
    empty ||= wanted && choices !== null && control.tagName === "SELECT" && control.options.length === 0;
  }
  byId("whatif-ask").disabled = empty;
  setText(byId("whatif-state"), empty ? "There is none of these in the cluster." : "");
}

function question() {
  const number = (id) => byId(id).valueAsNumber;
  switch (byId("whatif-change").value) {
    case "policy":
      return { policy: byId("whatif-policy").value };
    case "nodes":
      return { nodes: { count: number("whatif-count"), gpuType: byId("whatif-type").value } };
    case "queue":
      return { queue: { name: byId("whatif-queue").value, gpus: number("whatif-gpus") } };
    case "priority":
      return { priority: { job: byId("whatif-job").value, priority: number("whatif-priority") } };
    default:
      return { like: byId("whatif-like").value };
  }
}

async function tell() {
  byId("whatif-ask").disabled = true;
  show(byId("whatif-answer"), false);
  setText(byId("whatif-state"), "The operator replays the future; this may take half a minute.");
  try {
    render(await json(await ask(PATH, { method: "POST", headers: JSON_TYPE, body: JSON.stringify(question()) })));
    setText(byId("whatif-state"), "");
  } catch (problem) {
    refuse(problem.message);
  } finally {
    byId("whatif-ask").disabled = false;
  }
}

function refuse(why) {
  show(byId("whatif-answer"), false);
  setText(byId("whatif-state"), why);
}

/** The body of an answer, or the error that it tells. */
async function json(response) {
  const body = await response.json().catch(() => ({}));
  if (!response.ok) {
    throw new Error(body.error ?? `the operator answered ${response.status}`);
  }
  return body;
}

function render(answer) {
  const until = (instant) => (instant === null ? "never" : format.duration(Date.parse(instant) - Date.parse(answer.at)));
  const both = (before, after) => (before === after ? before : `${before} → ${after}`);
  const added = answer.added.map((job) =>
    row(job, [until(job.start), until(job.end), "added"], "added"));
  const others = answer.jobs.map((job) => {
    const starts = (start, runs) => (start === null && runs ? "runs" : until(start));
    // A job that has lost its node and gets nothing any more does not end either.
    const runsThen = job.runs && (job.endThen !== null || job.end === null);
    return row(
      job,
      [both(starts(job.start, job.runs), starts(job.startThen, runsThen)), both(until(job.end), until(job.endThen)), change(job)],
      direction(job),
    );
  });
  setText(byId("whatif-sentence"), answer.sentence);
  byId("whatif-rows").replaceChildren(...added, ...others);
  show(byId("whatif-table"), added.length + others.length > 0);
  setText(byId("whatif-assumed"), `Assumed: ${answer.assumptions.join("; ")}.`);
  show(byId("whatif-answer"), true);
}

function row(job, cells, moved) {
  const name = job.namespace === "default" ? job.name : `${job.namespace}/${job.name}`;
  return el("tr", { "data-moved": moved }, el("th", { scope: "row" }, name), ...cells.map((text) => el("td", {}, text)));
}

function direction(job) {
  if (job.laterSeconds === null) {
    return job.end === job.endThen ? "same" : job.endThen === null ? "later" : "sooner";
  }
  return job.laterSeconds === 0 ? "same" : job.laterSeconds > 0 ? "later" : "sooner";
}

function change(job) {
  const moved = direction(job);
  if (moved === "same") {
    return format.NONE;
  }
  if (job.laterSeconds === null) {
    return moved === "later" ? "no end" : "an end";
  }
  return `${format.duration(1000 * Math.abs(job.laterSeconds))} ${moved}`;
}
