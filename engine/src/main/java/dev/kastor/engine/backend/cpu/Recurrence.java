package dev.kastor.engine.backend.cpu;

import dev.kastor.engine.graph.Primitive.Unary;
import dev.kastor.engine.op.Recurrent;
import dev.kastor.engine.tensor.Shape;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/** A recurrent layer, step by step: one product for all examples, then each example's functions. */
final class Recurrence implements Kernel {
  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

  private final Recurrent.Cell cell;
  private final int time;
  private final int batch;
  private final int first;
  private final int rows;
  private final int hidden;
  private final Place projected;
  private final Place bias;
  private final Place out;
  private final StateProduct product;
  private final float[] input;
  private final float[] state;
  private final float[] biases;
  private final float[] row;
  private final float[][] parts;
  private final float[][] carried;

  /**
   * A layer's kernel.
   *
   * @param shape of the result, {@code [time, batch, parts * hidden]}
   * @param first example that it computes
   * @param last the first that it does not compute
   */
  Recurrence(
      OneDnn oneDnn,
      Recurrent.Cell cell,
      Shape shape,
      Place projected,
      Place weights,
      Place bias,
      Place out,
      int first,
      int last) {
    this.first = first;
    rows = last - first;
    this.cell = cell;
    time = shape.extent(0);
    batch = shape.extent(1);
    int width = shape.extent(2);
    hidden = width / cell.parts();
    this.projected = projected;
    this.bias = bias;
    this.out = out;
    int gates = cell.gates() * hidden;
    product = new StateProduct(oneDnn, rows, hidden, gates, width, weights, false);
    input = new float[gates];
    state = new float[gates];
    biases = new float[gates];
    row = new float[width];
    parts = new float[cell.parts()][hidden];
    carried = new float[rows][hidden];
  }

  @Override
  public void run() {
    MemorySegment to = out.segment();
    MemorySegment.copy(bias.segment(), FLOAT, 0, biases, 0, biases.length);
    product.begin();
    for (float[] each : carried) {
      Arrays.fill(each, 0);
    }
    for (int t = 0; t < time; t++) {
      if (t > 0) {
        long before = (t - 1L) * batch + first;
        product.multiply(to.asSlice(4 * (before * row.length + (cell.parts() - 1L) * hidden)));
      }
      for (int n = 0; n < rows; n++) {
        long position = (long) t * batch + first + n;
        MemorySegment.copy(
            projected.segment(), FLOAT, 4L * position * input.length, input, 0, input.length);
        if (t > 0) {
          product.row(n, state);
          Loops.add(state, biases, state, state.length);
        } else {
          System.arraycopy(biases, 0, state, 0, state.length);
        }
        switch (cell) {
          case LSTM -> lstm(carried[n]);
          case GRU -> gru(carried[n]);
        }
        for (int i = 0; i < parts.length; i++) {
          System.arraycopy(parts[i], 0, row, i * hidden, hidden);
        }
        MemorySegment.copy(row, 0, to, FLOAT, 4L * position * row.length, row.length);
      }
    }
  }

  private void gate(float[] from, int number) {
    System.arraycopy(from, number * hidden, parts[number], 0, hidden);
  }

  private void apply(Unary.Kind kind, int part) {
    Loops.unary(kind, parts[part], parts[part], hidden);
  }

  private void lstm(float[] memory) {
    Loops.add(input, state, input, input.length);
    for (int i = 0; i < 4; i++) {
      gate(input, i);
      apply(i == 2 ? Unary.Kind.TANH : Unary.Kind.SIGMOID, i);
    }
    remember(parts[0], parts[1], parts[2], memory, hidden);
    System.arraycopy(memory, 0, parts[4], 0, hidden);
    Loops.unary(Unary.Kind.TANH, memory, parts[5], hidden);
    Loops.multiply(parts[5], parts[3], parts[5], hidden);
  }

  private static void remember(float[] i, float[] f, float[] g, float[] memory, int n) {
    for (int j = 0; j < n; j++) {
      memory[j] = f[j] * memory[j] + i[j] * g[j];
    }
  }

  private void gru(float[] before) {
    // The last gate's contribution of the state is kept apart.
    System.arraycopy(state, 2 * hidden, parts[3], 0, hidden);
    Arrays.fill(state, 2 * hidden, 3 * hidden, 0);
    Loops.add(input, state, input, input.length);
    for (int i = 0; i < 3; i++) {
      gate(input, i);
    }
    apply(Unary.Kind.SIGMOID, 0);
    apply(Unary.Kind.SIGMOID, 1);
    candidate(parts[0], parts[3], parts[2], hidden);
    apply(Unary.Kind.TANH, 2);
    update(parts[1], parts[2], before, hidden);
    System.arraycopy(before, 0, parts[4], 0, hidden);
  }

  private static void candidate(float[] reset, float[] fromState, float[] sum, int n) {
    for (int j = 0; j < n; j++) {
      sum[j] += reset[j] * fromState[j];
    }
  }

  private static void update(float[] update, float[] candidate, float[] state, int n) {
    for (int j = 0; j < n; j++) {
      state[j] = candidate[j] + update[j] * (state[j] - candidate[j]);
    }
  }

  @Override
  public void close() {
    product.close();
  }
}
