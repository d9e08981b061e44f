package dev.kastor.engine.export;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Graph of ONNX while it is built: nodes in the order in which they are computed, and constants.
 *
 * <p>Source of the numbers of fields: ONNX, {@code onnx/onnx.proto}.
 */
final class OnnxGraph {
  /** Type of elements, with its number in {@code TensorProto.DataType}. */
  enum Type {
    FLOAT(1),
    INT32(6),
    INT64(7),
    BOOL(9);

    private final int number;

    Type(int number) {
      this.number = number;
    }

    int number() {
      return number;
    }
  }

  private static final int NODE = 1;
  private static final int GRAPH_NAME = 2;
  private static final int INITIALIZER = 5;
  private static final int INPUT = 11;
  private static final int OUTPUT = 12;

  /** Of {@code AttributeProto.AttributeType}. */
  private static final int INT = 2;

  private static final int INTS = 7;

  private final List<ProtoWriter> nodes = new ArrayList<>();
  private final List<ProtoWriter> initializers = new ArrayList<>();
  private final List<ProtoWriter> inputs = new ArrayList<>();
  private final List<ProtoWriter> outputs = new ArrayList<>();
  private final Map<List<Object>, String> known = new HashMap<>();
  private int names;

  /** Attribute of a node: an integer or several. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Attribute(String name, boolean list, long... values) {
    static Attribute of(String name, long value) {
      return new Attribute(name, false, value);
    }

    static Attribute list(String name, long... values) {
      return new Attribute(name, true, values);
    }

    private ProtoWriter message() {
      ProtoWriter message = new ProtoWriter().text(1, name);
      for (long value : values) {
        message.number(list ? 8 : 3, value);
      }
      return message.number(20, (long) (list ? INTS : INT));
    }
  }

  /** A name that no parameter can have. */
  private String next(String word) {
    return "/" + word + "_" + names++;
  }

  /** Adds a node; the name of its result. */
  String add(String op, List<String> from, Attribute... attributes) {
    String result = next(op.toLowerCase(Locale.ROOT));
    named(result, op, from, attributes);
    return result;
  }

  /** Adds a node whose result has a certain name. */
  void named(String result, String op, List<String> from, Attribute... attributes) {
    ProtoWriter node = new ProtoWriter();
    from.forEach(name -> node.text(1, name));
    node.text(2, result).text(3, result).text(4, op);
    for (Attribute attribute : attributes) {
      node.message(5, attribute.message());
    }
    nodes.add(node);
  }

  /** Adds trained values under their own name. */
  void trained(NamedTensor tensor) {
    long[] dims = Arrays.stream(tensor.shape().extents()).asLongStream().toArray();
    initializers.add(tensorOf(Type.FLOAT, dims, tensor.name()).tensor(9, tensor));
  }

  /** A constant of floats. */
  String floats(long[] dims, float... values) {
    byte[] raw = new byte[values.length * Float.BYTES];
    little(raw).asFloatBuffer().put(values);
    return constant(Type.FLOAT, dims, raw);
  }

  /** A constant of 32-bit integers. */
  String ints(long[] dims, int... values) {
    byte[] raw = new byte[values.length * Integer.BYTES];
    little(raw).asIntBuffer().put(values);
    return constant(Type.INT32, dims, raw);
  }

  /** A vector of 64-bit integers, as ops take shapes and axes. */
  String longs(long... values) {
    return constant(Type.INT64, new long[] {values.length}, bytes(values));
  }

  /** A scalar of a 64-bit integer. */
  String scalar(long value) {
    return constant(Type.INT64, new long[0], bytes(value));
  }

  /** A constant of truth values. */
  String booleans(long[] dims, boolean... values) {
    byte[] raw = new byte[values.length];
    for (int i = 0; i < values.length; i++) {
      raw[i] = (byte) (values[i] ? 1 : 0);
    }
    return constant(Type.BOOL, dims, raw);
  }

  private static ByteBuffer little(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private String constant(Type type, long[] dims, byte[] raw) {
    List<Object> key = List.of(type, ByteBuffer.wrap(bytes(dims)), ByteBuffer.wrap(raw));
    return known.computeIfAbsent(
        key,
        _ -> {
          String name = next("constant");
          initializers.add(tensorOf(type, dims, name).bytes(9, raw));
          return name;
        });
  }

  private static byte[] bytes(long... values) {
    byte[] bytes = new byte[values.length * Long.BYTES];
    little(bytes).asLongBuffer().put(values);
    return bytes;
  }

  private static ProtoWriter tensorOf(Type type, long[] dims, String name) {
    ProtoWriter tensor = new ProtoWriter();
    for (long dim : dims) {
      tensor.number(1, dim);
    }
    return tensor.number(2, (long) type.number).text(8, name);
  }

  /**
   * Declares an input.
   *
   * @param extents those of one example; the number of examples comes before
   */
  void input(String name, Type type, String description, int... extents) {
    inputs.add(value(name, type, description, extents));
  }

  /**
   * Declares an output.
   *
   * @param extents those of one example; the number of examples comes before
   */
  void output(String name, Type type, String description, int... extents) {
    outputs.add(value(name, type, description, extents));
  }

  private static ProtoWriter value(String name, Type type, String description, int... extents) {
    ProtoWriter shape = new ProtoWriter().message(1, new ProtoWriter().text(2, "batch"));
    for (int extent : extents) {
      shape.message(1, new ProtoWriter().number(1, (long) extent));
    }
    ProtoWriter tensor = new ProtoWriter().number(1, (long) type.number).message(2, shape);
    return new ProtoWriter()
        .text(1, name)
        .message(2, new ProtoWriter().message(1, tensor))
        .text(3, description);
  }

  /** The message. */
  ProtoWriter message(String name) {
    ProtoWriter graph = new ProtoWriter();
    nodes.forEach(node -> graph.message(NODE, node));
    graph.text(GRAPH_NAME, name);
    initializers.forEach(each -> graph.message(INITIALIZER, each));
    inputs.forEach(each -> graph.message(INPUT, each));
    outputs.forEach(each -> graph.message(OUTPUT, each));
    return graph;
  }
}
