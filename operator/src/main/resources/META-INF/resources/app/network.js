// Computes the graph of a model: the operations of ONNX, operator set 13, that networks for images are exported with.
// A tensor is a shape with an array of its values by rows. Sums are kept in double precision, results in single.

import { ModelError, elements } from "./onnx.js";

/** More values than any result of a network for images of 256 pixels has; each takes four bytes. */
const MOST_ELEMENTS = 1 << 24;

/** Values and products of one answer at most, so that a damaged file ends with a sentence and not with the browser. */
const MOST_STEPS = 4e9;
const MOST_NODES = 10_000;

let stepsLeft = 0;

function spend(steps) {
  stepsLeft -= steps;
  if (!(stepsLeft >= 0)) {
    throw wrong("it takes more steps than this page computes");
  }
}

const wrong = (what) => new ModelError(`The model cannot be computed: ${what}. The file is damaged, or kastor export did not write it.`);

function tensor(shape, like = Float32Array) {
  const size = elements(shape);
  if (!shape.every((extent) => Number.isSafeInteger(extent) && extent >= 0) || !(size <= MOST_ELEMENTS)) {
    throw wrong(`a result has the shape [${shape.join(", ")}]`);
  }
  spend(size);
  return { shape, data: new like(size) };
}

/** How far apart neighbours of each axis are. */
function strides(shape) {
  const steps = Array(shape.length).fill(1);
  for (let axis = shape.length - 2; axis >= 0; axis--) {
    steps[axis] = steps[axis + 1] * shape[axis + 1];
  }
  return steps;
}

/** Where each element of a shape is in an array through which `steps` lead. */
function places(shape, steps) {
  if (shape.includes(0)) {
    return new Int32Array(0);
  }
  let all = new Int32Array(1);
  shape.forEach((extent, axis) => {
    const longer = new Int32Array(all.length * extent);
    let at = 0;
    for (let i = 0; i < all.length; i++) {
      for (let j = 0; j < extent; j++) {
        longer[at++] = all[i] + j * steps[axis];
      }
    }
    all = longer;
  });
  return all;
}

/** A tensor of a shape, with elements of another one that are found by `steps` from an offset. */
function picked(shape, x, steps, offset = 0) {
  const result = tensor(shape, x.data.constructor);
  const from = places(shape, steps);
  for (let i = 0; i < from.length; i++) {
    result.data[i] = x.data[offset + from[i]];
  }
  return result;
}

/** The shape to which all are repeated, with the steps of each through it. */
function common(shapes) {
  const rank = Math.max(...shapes.map((shape) => shape.length));
  const wide = shapes.map((shape) => [...Array(rank - shape.length).fill(1), ...shape]);
  const shape = Array.from({ length: rank }, (_, axis) => {
    const extents = new Set(wide.map((each) => each[axis]).filter((extent) => extent !== 1));
    if (extents.size > 1) {
      throw wrong(`shapes [${shapes.map((each) => each.join(", ")).join("] and [")}] do not fit`);
    }
    return extents.size === 1 ? [...extents][0] : 1;
  });
  const steps = wide.map((each) => strides(each).map((step, axis) => (each[axis] === 1 ? 0 : step)));
  return { shape, steps };
}

const each = (compute) => (attributes, [x]) => ({ shape: x.shape, data: x.data.map(compute) });

const both = (compute) => (attributes, [a, b]) => {
  const { shape, steps } = common([a.shape, b.shape]);
  const result = tensor(shape, a.data.constructor);
  const [left, right] = steps.map((each) => places(shape, each));
  for (let i = 0; i < left.length; i++) {
    result.data[i] = compute(a.data[left[i]], b.data[right[i]]);
  }
  return result;
};

function matMul(attributes, [a, b]) {
  const rows = a.shape.at(-2);
  const inner = a.shape.at(-1);
  const columns = b.shape.at(-1);
  if (a.shape.length < 2 || b.shape.length < 2 || b.shape.at(-2) !== inner) {
    throw wrong(`a product of [${a.shape.join(", ")}] and [${b.shape.join(", ")}]`);
  }
  const { shape, steps } = common([a.shape.slice(0, -2), b.shape.slice(0, -2)]);
  const result = tensor([...shape, rows, columns]);
  spend(result.data.length * inner);
  const sums = new Float64Array(columns);
  const [lefts, rights] = steps.map((each) => places(shape, each));
  lefts.forEach((left, matrix) => {
    for (let row = 0; row < rows; row++) {
      sums.fill(0);
      for (let i = 0; i < inner; i++) {
        const factor = a.data[(left * rows + row) * inner + i];
        const from = (rights[matrix] * inner + i) * columns;
        if (factor !== 0) {
          for (let column = 0; column < columns; column++) {
            sums[column] += factor * b.data[from + column];
          }
        }
      }
      result.data.set(sums, (matrix * rows + row) * columns);
    }
  });
  return result;
}

/** How many windows of a size fit over an extent. */
function windows(extent, size, stride, before, after) {
  const count = Math.floor((extent + before + after - size) / stride) + 1;
  if (!(size > 0 && stride > 0 && before >= 0 && after >= 0 && count > 0)) {
    throw wrong(`a window of ${size} over ${extent}`);
  }
  return count;
}

/** Windows over the last two axes; dilations, groups and the like are in no file that kastor export writes. */
function square({ kernel_shape: kernel, strides: step = [1, 1], pads = [0, 0, 0, 0], ...others }, x) {
  if (Object.keys(others).length > 0) {
    throw wrong(`windows with ${Object.keys(others).join(", ")}`);
  }
  if (x.shape.length !== 4 || kernel?.length !== 2 || step.length !== 2 || pads.length !== 4) {
    throw wrong(`windows over [${x.shape.join(", ")}]`);
  }
  const [height, width] = [0, 1].map((i) => windows(x.shape[2 + i], kernel[i], step[i], pads[i], pads[2 + i]));
  return { kernel, step, pads, height, width };
}

function convolution(attributes, [x, w, ...others]) {
  const { kernel, step, pads, height, width } = square(attributes, x);
  const [images, channels, rows, columns] = x.shape;
  const outputs = w.shape[0];
  if (others.length > 0 || w.shape.length !== 4 || w.shape[1] !== channels || w.shape[2] !== kernel[0] || w.shape[3] !== kernel[1]) {
    throw wrong(`a convolution of [${x.shape.join(", ")}] with [${w.shape.join(", ")}]`);
  }
  const result = tensor([images, outputs, height, width]);
  spend(result.data.length * channels * kernel[0] * kernel[1]);
  const sums = new Float64Array(height * width);
  for (let plane = 0; plane < images * outputs; plane++) {
    const image = Math.floor(plane / outputs);
    sums.fill(0);
    for (let channel = 0; channel < channels; channel++) {
      for (let i = 0; i < kernel[0] * kernel[1]; i++) {
        const dy = Math.floor(i / kernel[1]) - pads[0];
        const dx = (i % kernel[1]) - pads[1];
        const weight = w.data[((plane % outputs) * channels + channel) * kernel[0] * kernel[1] + i];
        for (let row = 0; row < height; row++) {
          const y = row * step[0] + dy;
          const from = ((image * channels + channel) * rows + y) * columns + dx;
          for (let column = 0; y >= 0 && y < rows && column < width; column++) {
            const right = column * step[1];
            if (right + dx >= 0 && right + dx < columns) {
              sums[row * width + column] += weight * x.data[from + right];
            }
          }
        }
      }
    }
    result.data.set(sums, plane * height * width);
  }
  return result;
}

function maxPool(attributes, [x]) {
  const { kernel, step, pads, height, width } = square(attributes, x);
  const [images, channels, rows, columns] = x.shape;
  const result = tensor([images, channels, height, width]);
  spend(result.data.length * Math.min(rows, kernel[0]) * Math.min(columns, kernel[1]));
  for (let to = 0; to < result.data.length; to++) {
    const plane = Math.floor(to / (height * width));
    const top = Math.floor((to % (height * width)) / width) * step[0] - pads[0];
    const left = (to % width) * step[1] - pads[1];
    let most = -Infinity;
    for (let y = Math.max(0, top); y < Math.min(rows, top + kernel[0]); y++) {
      for (let column = Math.max(0, left); column < Math.min(columns, left + kernel[1]); column++) {
        most = Math.max(most, x.data[(plane * rows + y) * columns + column]);
      }
    }
    result.data[to] = most;
  }
  return result;
}

function reshape(attributes, [x, to]) {
  const shape = [...to.data].map((extent, axis) => (extent === 0 ? x.shape[axis] : extent));
  const free = shape.indexOf(-1);
  if (free >= 0) {
    shape[free] = elements(x.shape) / elements(shape.toSpliced(free, 1));
  }
  if (elements(shape) !== elements(x.shape) || !shape.every((extent) => Number.isInteger(extent) && extent >= 0)) {
    throw wrong(`[${x.shape.join(", ")}] as [${to.data.join(", ")}]`);
  }
  return { shape, data: x.data };
}

function transpose({ perm }, [x]) {
  if (perm?.length !== x.shape.length || new Set(perm).size !== perm.length || !perm.every((axis) => axis in x.shape)) {
    throw wrong(`the axes [${perm}] of [${x.shape.join(", ")}]`);
  }
  const own = strides(x.shape);
  return picked(perm.map((axis) => x.shape[axis]), x, perm.map((axis) => own[axis]));
}

function expand(attributes, [x, to]) {
  const { shape, steps } = common([x.shape, [...to.data]]);
  return picked(shape, x, steps[0]);
}

const reduce = (first, join) => ({ axes: listed, keepdims = 1 }, [x, given]) => {
  const axes = [...(given?.data ?? listed ?? x.shape.keys())].map((axis) => (axis < 0 ? axis + x.shape.length : axis));
  const kept = x.shape.map((extent, axis) => (axes.includes(axis) ? 1 : extent));
  const result = tensor(kept);
  const values = new Float64Array(result.data.length).fill(first);
  const steps = strides(kept).map((step, axis) => (axes.includes(axis) ? 0 : step));
  places(x.shape, steps).forEach((to, from) => (values[to] = join(values[to], x.data[from])));
  result.data.set(values);
  return keepdims ? result : { shape: kept.filter((_, axis) => !axes.includes(axis)), data: result.data };
};

/** Of the last axis, as kastor export writes it. */
function softmax({ axis = -1 }, [x]) {
  const extent = x.shape.at(-1);
  if (!(extent > 0) || (axis !== -1 && axis !== x.shape.length - 1)) {
    throw wrong(`a softmax of [${x.shape.join(", ")}] over the axis ${axis}`);
  }
  const result = tensor(x.shape);
  for (let from = 0; from < x.data.length; from += extent) {
    const row = Array.from(x.data.subarray(from, from + extent));
    const most = Math.max(...row);
    const powers = row.map((value) => Math.exp(value - most));
    const sum = powers.reduce((all, power) => all + power, 0);
    result.data.set(powers.map((power) => power / sum), from);
  }
  return result;
}

function concat({ axis }, parts) {
  const along = axis < 0 ? axis + parts[0].shape.length : axis;
  const shape = parts[0].shape.map((extent, i) => (i === along ? parts.reduce((all, part) => all + part.shape[i], 0) : extent));
  const result = tensor(shape, parts[0].data.constructor);
  let begin = 0;
  for (const part of parts) {
    if (part.shape.some((extent, i) => i !== along && extent !== shape[i])) {
      throw wrong("tensors beside each other have different shapes");
    }
    const offset = begin * strides(shape)[along];
    places(part.shape, strides(shape)).forEach((to, from) => (result.data[offset + to] = part.data[from]));
    begin += part.shape[along];
  }
  return result;
}

function slice(attributes, [x, from, to, axes, ...others]) {
  if (others.length > 0) {
    throw wrong("a slice with steps");
  }
  const shape = [...x.shape];
  let offset = 0;
  (axes?.data ?? shape.keys()).forEach((axis, i) => {
    const extent = x.shape[axis];
    const [begin, end] = [from.data[i], to.data[i]].map((at) => Math.min(extent, Math.max(0, at < 0 ? at + extent : at)));
    shape[axis] = Math.max(0, end - begin);
    offset += begin * strides(x.shape)[axis];
  });
  return picked(shape, x, strides(x.shape), offset);
}

const OPS = new Map(Object.entries({
  Add: both((a, b) => a + b),
  Sub: both((a, b) => a - b),
  Mul: both((a, b) => a * b),
  Div: both((a, b) => a / b),
  Max: both((a, b) => Math.max(a, b)),
  Neg: each((x) => -x),
  Exp: each(Math.exp),
  Log: each(Math.log),
  Sqrt: each(Math.sqrt),
  Reciprocal: each((x) => 1 / x),
  Tanh: each(Math.tanh),
  Sigmoid: each((x) => 1 / (1 + Math.exp(-x))),
  Relu: each((x) => Math.max(0, x)),
  Identity: (attributes, [x]) => x,
  Shape: (attributes, [x]) => ({ shape: [x.shape.length], data: Float64Array.from(x.shape) }),
  MatMul: matMul,
  Conv: convolution,
  MaxPool: maxPool,
  Reshape: reshape,
  Transpose: transpose,
  Expand: expand,
  ReduceSum: reduce(0, (a, b) => a + b),
  ReduceMax: reduce(-Infinity, Math.max),
  Softmax: softmax,
  Concat: concat,
  Slice: slice,
}));

/** Operations of a model that cannot be computed here, each once. */
export function unknownOps(model) {
  return [...new Set(model.nodes.map((node) => node.op).filter((op) => !OPS.has(op)))];
}

function result(op, attributes, operands) {
  try {
    return OPS.get(op)(attributes, operands);
  } catch (problem) {
    throw problem instanceof ModelError ? problem : wrong(`${op} failed`);
  }
}

/** The result of a name, for an input of a shape whose first extent is the number of examples. */
export function compute(model, shape, data, output) {
  stepsLeft = MOST_STEPS;
  if (model.nodes.length > MOST_NODES) {
    throw wrong(`it has ${model.nodes.length} nodes`);
  }
  const known = new Map(model.tensors);
  known.set(model.input, { shape, data });
  for (const { op, from, to, attributes } of model.nodes) {
    const operands = from.map((name) => known.get(name));
    if (operands.length === 0 || operands.includes(undefined)) {
      throw wrong(`${to} needs a value that is not there`);
    }
    known.set(to, result(op, attributes, operands));
  }
  if (!known.has(output)) {
    throw wrong(`it has no result ${output}`);
  }
  return known.get(output);
}
