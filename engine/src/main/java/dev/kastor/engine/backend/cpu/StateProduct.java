package dev.kastor.engine.backend.cpu;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.bytedeco.dnnl.IntMemoryMap;
import org.bytedeco.dnnl.global.dnnl;
import org.bytedeco.dnnl.matmul;
import org.bytedeco.dnnl.memory;
import org.bytedeco.dnnl.reorder;

/**
 * The product of a recurrent layer's state with the same weights in every step of a sequence: the
 * weights are brought into oneDNN's layout once for all steps.
 */
final class StateProduct implements AutoCloseable {
  private final OneDnn oneDnn;
  private final Arena arena = Arena.ofShared();
  private final Place weights;
  private final int rows;
  private final int columns;
  private final MemorySegment result;
  private final matmul work;
  private final memory left;
  private final memory given;
  private final memory packed;
  private final reorder pack;
  private final IntMemoryMap packing = new IntMemoryMap();
  private final IntMemoryMap arguments = new IntMemoryMap();

  /**
   * A product {@code [rows, inner] x [inner, columns]}.
   *
   * @param stride elements between rows of the left operand
   * @param weights {@code [inner, columns]}, or {@code [columns, inner]} if transposed
   */
  StateProduct(
      OneDnn oneDnn,
      int rows,
      int inner,
      int columns,
      int stride,
      Place weights,
      boolean transposed) {
    this.oneDnn = oneDnn;
    this.weights = weights;
    this.rows = rows;
    this.columns = columns;
    result = arena.allocate(4L * rows * columns, 64);
    memory.desc a = OneDnn.dense(new long[] {rows, inner}, new long[] {stride, 1});
    memory.desc b =
        OneDnn.dense(
            new long[] {inner, columns},
            transposed ? new long[] {1, inner} : new long[] {columns, 1});
    memory.desc c = OneDnn.dense(new long[] {rows, columns}, new long[] {columns, 1});
    var plan =
        new matmul.primitive_desc(
            oneDnn.engine(), a, OneDnn.any(inner, columns), c, OneDnn.deterministic(), false);
    work = new matmul(plan);
    left = oneDnn.unbound(a);
    given = oneDnn.unbound(b);
    packed = new memory(plan.weights_desc(), oneDnn.engine());
    pack = new reorder(given, packed);
    packing.put(dnnl.DNNL_ARG_FROM, given);
    packing.put(dnnl.DNNL_ARG_TO, packed);
    memory out = oneDnn.unbound(c);
    out.set_data_handle(OneDnn.pointer(result));
    arguments.put(dnnl.DNNL_ARG_SRC, left);
    arguments.put(dnnl.DNNL_ARG_WEIGHTS, packed);
    arguments.put(dnnl.DNNL_ARG_DST, out);
  }

  /** Must precede the products of a run. */
  void begin() {
    given.set_data_handle(OneDnn.pointer(weights.segment()));
    pack.execute(oneDnn.stream(), packing);
    oneDnn.stream()._wait();
  }

  /** Multiplies what begins here; the result is read with {@link #row}. */
  void multiply(MemorySegment operand) {
    left.set_data_handle(OneDnn.pointer(operand));
    work.execute(oneDnn.stream(), arguments);
    oneDnn.stream()._wait();
  }

  /** Copies a row of the last result. */
  void row(int row, float[] to) {
    MemorySegment.copy(result, ValueLayout.JAVA_FLOAT, 4L * row * columns, to, 0, columns);
  }

  int rows() {
    return rows;
  }

  @Override
  public void close() {
    arguments.close();
    packing.close();
    pack.close();
    packed.close();
    given.close();
    left.close();
    work.close();
    arena.close();
  }
}
