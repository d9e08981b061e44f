// The page on which a network answers to a drawing. All is computed here: no drawing and no file leaves the browser.

import { byId, el, setChildren, setText, show } from "./dom.js";
import { ask, onToken } from "./access.js";
import { ModelError } from "./onnx.js";
import { MOST_BYTES, answer, readImageModel } from "./imagemodel.js";
import { SAMPLES, pixelsOf, sample, thickness } from "./strokes.js";
import * as format from "./format.js";

const MOST_LABELS = 20;
const CANVAS_PIXELS = 680;
const LIGHT = "#e8ecee";

const job = new URLSearchParams(location.search).get("job") ?? "";
const state = { of: null, strokes: [], what: "", pointer: null, asked: 0 };

function say(problem) {
  setText(byId("notice"), problem);
  show(byId("notice"), problem !== "");
}

/** Takes a model for the one of the page; the former one stays where the new one cannot be used. */
async function take(from, read) {
  const mine = ++state.asked;
  let problem = "";
  let of = null;
  try {
    const buffer = await read();
    of = buffer && readImageModel(buffer);
  } catch (failure) {
    console.info("The model could not be read:", failure.message);
    problem = failure instanceof ModelError ? failure.message : `${from} could not be read.`;
  }
  if (mine !== state.asked) {
    return;
  }
  say(problem);
  if (of) {
    use(of, from);
  }
}

function use(of, from) {
  state.of = of;
  const name = [of.program, of.job && `of ${of.job}`].filter(Boolean).join(" ");
  setText(byId("model-title"), name || from);
  setText(byId("model-hint"), [from, Number.isFinite(of.step) && `step ${format.count(of.step)}`, format.plural(of.parameters, "parameter"), format.plural(of.labels.length, "label")].filter(Boolean).join(" · "));
  setText(byId("seen-size"), `${of.width}×${of.height} pixels`);
  const canvas = byId("canvas");
  canvas.width = CANVAS_PIXELS;
  canvas.height = Math.round((CANVAS_PIXELS * of.height) / of.width);
  byId("seen").width = of.width;
  byId("seen").height = of.height;
  show(byId("try"), true);
  render();
}

/** The model of the job's newest checkpoint, which the operator of a local cluster exports. */
function takeNewest() {
  const [namespace, name] = job.split("/", 2);
  return take(`Job ${job}`, async () => {
    say("The newest checkpoint is exported; that takes some seconds.");
    const response = await ask(`/api/v1/jobs/${encodeURIComponent(namespace)}/${encodeURIComponent(name ?? "")}/model.onnx`);
    if (response.ok) {
      return response.arrayBuffer();
    }
    if (response.status === 401) {
      return null;
    }
    const said = await response.json().catch(() => ({}));
    throw new ModelError(said.error ?? `The operator answers ${response.status}.`);
  });
}

function takeFile(file) {
  return take(file.name, () => {
    if (file.size > MOST_BYTES) {
      throw new ModelError(`${file.name} has ${format.count(file.size / 1024 / 1024)} MiB, and this page reads at most ${MOST_BYTES / 1024 / 1024}.`);
    }
    return file.arrayBuffer();
  });
}

function render() {
  const { of, strokes } = state;
  const empty = strokes.length === 0;
  // Disabled buttons lose the focus, and whoever uses the keyboard would begin at the top again.
  byId("undo").setAttribute("aria-disabled", empty);
  byId("clear").setAttribute("aria-disabled", empty);
  // Read aloud when the pen is up, not with each picture.
  byId("best").setAttribute("aria-busy", state.pointer !== null);
  setText(byId("drawing-state"), empty ? "Nothing is drawn." : state.what);
  paintStrokes();
  const pixels = pixelsOf(strokes, of.height, of.width);
  paintPixels(pixels);
  try {
    renderLabels(empty ? null : answer(of, pixels));
  } catch (problem) {
    say(problem instanceof ModelError ? problem.message : "The model cannot be computed: its file is damaged, or kastor export did not write it.");
    renderLabels(null);
  }
}

function paintStrokes() {
  const canvas = byId("canvas");
  const context = canvas.getContext("2d");
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.strokeStyle = LIGHT;
  context.lineWidth = thickness(canvas.height, canvas.width);
  context.lineCap = "round";
  context.lineJoin = "round";
  for (const stroke of state.strokes) {
    context.beginPath();
    for (let i = 0; i < stroke.length; i += 2) {
      context.lineTo(stroke[i] * canvas.width, stroke[i + 1] * canvas.height);
    }
    context.lineTo(stroke.at(-2) * canvas.width, stroke.at(-1) * canvas.height);
    context.stroke();
  }
}

/** What the network is given. */
function paintPixels(pixels) {
  const { height, width } = state.of;
  const image = new ImageData(width, height);
  pixels.forEach((value, i) => image.data.set([255 * value, 255 * value, 255 * value, 255], 4 * i));
  byId("seen").getContext("2d").putImageData(image, 0, 0);
}

/** All labels in the order of the model, or the most probable ones where they are many. */
function renderLabels(probabilities) {
  const labels = probabilities ? [...probabilities].map((p, i) => ({ i, p })) : state.of.labels.map((_, i) => ({ i, p: 0 }));
  const best = probabilities && labels.toSorted((a, b) => b.p - a.p);
  const shown = labels.length <= MOST_LABELS ? labels : (best ?? labels).slice(0, MOST_LABELS);
  const nameOf = (i) => state.of.labels[i] ?? String(i);
  setText(byId("best"), best ? `${nameOf(best[0].i)}, ${format.percent(best[0].p)}` : "");
  setChildren(byId("labels"), JSON.stringify([state.of.labels.length, shown.map(({ i, p }) => [i, p]), best?.[0].i]), () =>
    shown.map(({ i, p }) => {
      const bar = el("span");
      bar.style.width = `${100 * p}%`;
      return el("li", { "data-label": nameOf(i), "data-best": best && i === best[0].i ? "" : null },
        el("span", { class: "name" }, nameOf(i)),
        el("span", { class: "bar", "aria-hidden": "true" }, bar),
        el("span", { class: "value" }, best ? format.percent(p) : format.NONE));
    }));
}

function place(event) {
  const box = byId("canvas").getBoundingClientRect();
  return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
}

function offerDrawing() {
  const canvas = byId("canvas");
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || state.pointer !== null) {
      return;
    }
    event.preventDefault();
    canvas.setPointerCapture(event.pointerId);
    state.pointer = event.pointerId;
    state.what = "A drawing.";
    state.strokes.push(place(event));
    render();
  });
  canvas.addEventListener("pointermove", (event) => {
    if (event.pointerId !== state.pointer) {
      return;
    }
    const events = event.getCoalescedEvents?.() ?? [];
    (events.length > 0 ? events : [event]).forEach((each) => state.strokes.at(-1).push(...place(each)));
    later();
  });
  for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) {
    canvas.addEventListener(end, (event) => {
      if (event.pointerId === state.pointer) {
        state.pointer = null;
        later();
      }
    });
  }
}

let waiting = false;

/** Renders once before the next picture, however many points came. */
function later() {
  if (!waiting) {
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      render();
    });
  }
}

/** Shows other strokes; what a finger draws meanwhile ends, since its stroke is gone. */
function drawn(strokes, what) {
  state.pointer = null;
  state.strokes = strokes;
  state.what = what;
  render();
}

byId("undo").addEventListener("click", () => drawn(state.strokes.slice(0, -1), "A drawing."));
byId("clear").addEventListener("click", () => drawn([], ""));
byId("samples").append(...SAMPLES.map((name) => el("button", { type: "button", "data-sample": name }, name)));
byId("samples").addEventListener("click", (event) => {
  const name = event.target.dataset.sample;
  if (name) {
    drawn(sample(name), `The sample ${name}.`);
  }
});
byId("file").addEventListener("change", (event) => {
  const [file] = event.target.files;
  if (file) {
    takeFile(file);
  }
});
// A file that was exported again may be chosen again.
byId("file").addEventListener("click", (event) => (event.target.value = ""));
byId("newest").addEventListener("click", takeNewest);
offerDrawing();
if (job.includes("/")) {
  byId("back").href = `/#${encodeURIComponent(job)}`;
  show(byId("newest"), true);
  onToken(takeNewest);
  takeNewest();
}
