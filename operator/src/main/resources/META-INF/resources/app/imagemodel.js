// A model of images from a file that kastor export wrote: what it is of, its labels, and its answer to pixels.

import { ModelError, elements, readModel } from "./onnx.js";
import { compute, unknownOps } from "./network.js";

export const MOST_BYTES = 64 * 1024 * 1024;
const MOST_SIDE = 256;

const isSide = (value) => Number.isInteger(value) && value >= 1 && value <= MOST_SIDE;

/** Reads a file; throws a ModelError with the reason if this page cannot use it. */
export function readImageModel(buffer) {
  const model = readModel(buffer);
  const inputs = fact(model, "inputs");
  const labels = fact(model, "labels");
  if (inputs?.kind !== "pixels") {
    throw new ModelError("The model does not take images, so nothing can be drawn for it. Predict with: kastor predict MODEL.onnx FILE");
  }
  const { height, width, channels, highest } = inputs;
  if (!Number.isFinite(highest) || !Array.isArray(labels)) {
    throw new ModelError("The model does not say what its pixels and labels mean. The file is damaged, or kastor export did not write it.");
  }
  if (![height, width, channels].every(isSide)) {
    throw new ModelError(`The model takes images of ${height}×${width} pixels, and this page draws at most ${MOST_SIDE}×${MOST_SIDE}. Predict with: kastor predict MODEL.onnx FILE`);
  }
  const unknown = unknownOps(model);
  if (unknown.length > 0) {
    throw new ModelError(`The model uses ${unknown.join(", ")}, which this page cannot compute. Predict with: kastor predict MODEL.onnx FILE`);
  }
  const text = (name) => model.facts.get(`kastor.${name}`) ?? "";
  let parameters = 0;
  for (const [name, tensor] of model.tensors) {
    parameters += name.startsWith("/") ? 0 : elements(tensor.shape);
  }
  return { model, height, width, channels, highest, labels, parameters, program: text("program"), job: text("job"), step: Number(text("step")) };
}

function fact(model, name) {
  const text = model.facts.get(`kastor.${name}`);
  if (text === undefined) {
    throw new ModelError(`The file does not say its ${name}: it is no model that kastor export wrote.`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new ModelError(`What the file says of its ${name} cannot be read: it is no model that kastor export wrote.`);
  }
}

/** A result for one image: `pixels` from 0 to 1, the same in all channels. */
export function answer(of, pixels, result = "probabilities") {
  const values = new Float32Array(pixels.length * of.channels);
  values.forEach((_, i) => (values[i] = pixels[Math.floor(i / of.channels)] * of.highest));
  return compute(of.model, [1, of.height, of.width, of.channels], values, result).data;
}
