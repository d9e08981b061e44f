// Reads models of ONNX as kastor export writes them: a message of protocol buffers with nodes, tensors and texts.
// Numbers of fields: onnx/onnx.proto.

const FLOAT = 1;
const INT32 = 6;
const INT64 = 7;
const BOOL = 9;
const TYPES = new Map([
  [FLOAT, { bytes: 4, read: (view, at) => view.getFloat32(at, true), make: (n) => new Float32Array(n) }],
  [INT32, { bytes: 4, read: (view, at) => view.getInt32(at, true), make: (n) => new Int32Array(n) }],
  [INT64, { bytes: 8, read: (view, at) => Number(view.getBigInt64(at, true)), make: (n) => new Float64Array(n) }],
  [BOOL, { bytes: 1, read: (view, at) => view.getUint8(at), make: (n) => new Uint8Array(n) }],
]);
const LONGEST_VARINT = 10;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** A model that cannot be used, with a sentence that says why. */
export class ModelError extends Error {}

const damaged = () => new ModelError("This is no file of ONNX, or it is damaged. Choose one that kastor export wrote.");

/** The fields of a message, each as its number with its value: bytes, or an integer. */
function* fieldsOf(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let i = 0; i < LONGEST_VARINT; i++) {
      if (at >= bytes.length) {
        throw damaged();
      }
      const byte = bytes[at++];
      value |= BigInt(byte & 0x7f) << BigInt(7 * i);
      if (byte < 0x80) {
        return Number(BigInt.asIntN(64, value));
      }
    }
    throw damaged();
  };
  const part = (length) => {
    if (!(length >= 0 && length <= bytes.length - at)) {
      throw damaged();
    }
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const key = varint();
    const number = Math.floor(key / 8);
    const kind = key % 8;
    if (number < 1) {
      throw damaged();
    }
    if (kind === 0) {
      yield [number, varint()];
    } else if (kind === 1) {
      yield [number, part(8)];
    } else if (kind === 2) {
      yield [number, part(varint())];
    } else if (kind === 5) {
      yield [number, view.getFloat32(part(4).byteOffset - bytes.byteOffset, true)];
    } else {
      throw damaged();
    }
  }
}

/** All fields of a message by number; each may be there more than once. */
function messageOf(bytes) {
  if (!(bytes instanceof Uint8Array)) {
    throw damaged();
  }
  const fields = new Map();
  for (const [number, value] of fieldsOf(bytes)) {
    if (!fields.has(number)) {
      fields.set(number, []);
    }
    fields.get(number).push(value);
  }
  return {
    all: (number) => fields.get(number) ?? [],
    one: (number) => fields.get(number)?.at(-1),
    text: (number) => textOf(fields.get(number)?.at(-1) ?? new Uint8Array()),
    texts: (number) => (fields.get(number) ?? []).map(textOf),
  };
}

function textOf(bytes) {
  if (!(bytes instanceof Uint8Array)) {
    throw damaged();
  }
  try {
    return utf8.decode(bytes);
  } catch {
    throw damaged();
  }
}

export const elements = (shape) => shape.reduce((all, extent) => all * extent, 1);

function tensorOf(bytes) {
  const message = messageOf(bytes);
  const shape = message.all(1);
  const type = TYPES.get(message.one(2));
  const raw = message.one(9) ?? new Uint8Array();
  if (!type || !shape.every((extent) => Number.isSafeInteger(extent) && extent >= 0)) {
    throw damaged();
  }
  if (!(raw instanceof Uint8Array) || raw.length !== type.bytes * elements(shape)) {
    throw new ModelError(`The values of ${message.text(8)} are not as many as its shape says: the file is damaged, or kastor export did not write it.`);
  }
  const view = new DataView(raw.buffer, raw.byteOffset, raw.length);
  const data = type.make(elements(shape));
  for (let i = 0; i < data.length; i++) {
    data[i] = type.read(view, i * type.bytes);
  }
  return [message.text(8), { shape, data }];
}

function nodeOf(bytes) {
  const message = messageOf(bytes);
  const attributes = {};
  for (const each of message.all(5)) {
    const attribute = messageOf(each);
    const list = attribute.all(8);
    attributes[attribute.text(1)] = list.length > 0 ? list : attribute.one(3);
  }
  return { op: message.text(4), from: message.texts(1), to: message.text(2), attributes };
}

/**
 * Reads a file: `nodes` in the order in which they are computed, `tensors` and `facts` by name, and the name of the
 * `input`.
 */
export function readModel(buffer) {
  const model = messageOf(new Uint8Array(buffer));
  if (!(model.one(7) instanceof Uint8Array)) {
    throw damaged();
  }
  const graph = messageOf(model.one(7));
  const facts = new Map();
  for (const each of model.all(14)) {
    const entry = messageOf(each);
    facts.set(entry.text(1), entry.text(2));
  }
  const inputs = graph.all(11);
  if (inputs.length !== 1) {
    throw damaged();
  }
  return {
    nodes: graph.all(1).map(nodeOf),
    tensors: new Map(graph.all(5).map(tensorOf)),
    input: messageOf(inputs[0]).text(1),
    facts,
  };
}
