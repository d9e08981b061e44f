package dev.kastor.engine.backend.cpu;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.graph.Primitive.Unary;
import dev.kastor.engine.op.Recurrent;
import dev.kastor.engine.op.RecurrentGradient;
import dev.kastor.engine.tensor.Shape;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/** The gradient of a recurrent layer, from the last step to the first. */
final class RecurrenceGradient implements Kernel {
  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

  private final Recurrent.Cell cell;
  private final int time;
  private final int batch;
  private final int first;
  private final int rows;
  private final int hidden;
  private final Place states;
  private final Place gradient;

  /** Whether the other parts have no gradient of their own, as usual. */
  private final boolean stateOnly;

  private final Place out;
  private final StateProduct product;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment pulled;
  private final float[] row;
  private final float[] pulledRow;
  private final float[][] now;
  private final float[][] given;
  private final float[] before;
  private final float[] scratch;
  private final float[][] pulls;
  private final float[][] ofState;
  private final float[][] ofMemory;

  /**
   * A gradient's kernel.
   *
   * @param shape of the layer's result, {@code [time, batch, parts * hidden]}
   * @param gradient of the result, or of its last part only, {@code [time, batch, hidden]}
   * @param first example that it computes
   * @param last the first that it does not compute
   */
  RecurrenceGradient(
      OneDnn oneDnn,
      Recurrent.Cell cell,
      Shape shape,
      Place states,
      Place weights,
      Place gradient,
      Place out,
      int first,
      int last) {
    this.first = first;
    rows = last - first;
    this.cell = cell;
    time = shape.extent(0);
    batch = shape.extent(1);
    hidden = shape.extent(2) / cell.parts();
    this.states = states;
    this.gradient = gradient;
    stateOnly = gradient.bytes() == 4L * time * batch * hidden;
    this.out = out;
    int gates = cell.gates() * hidden;
    product = new StateProduct(oneDnn, rows, gates, hidden, gates, weights, true);
    pulled = arena.allocate(4L * rows * gates, 64);
    row = new float[shape.extent(2)];
    pulledRow = new float[4 * hidden];
    now = new float[cell.parts()][hidden];
    given = new float[cell.parts()][hidden];
    before = new float[hidden];
    scratch = new float[hidden];
    pulls = new float[4][hidden];
    ofState = new float[rows][hidden];
    ofMemory = new float[rows][hidden];
  }

  /** Whether a gradient's only use is to be that of a layer's state, with zeros for the rest. */
  static boolean readsStateOf(Node user, Node padded) {
    if (!(user.op() instanceof RecurrentGradient op)
        || user.input(2) != padded
        || !(padded.op() instanceof Primitive.Pad pad)) {
      return false;
    }
    int hidden = user.input(1).shape().extent(0);
    return pad.axis() == 2 && pad.after() == 0 && pad.before() == (op.cell().parts() - 1) * hidden;
  }

  @Override
  public void run() {
    product.begin();
    for (int n = 0; n < rows; n++) {
      Arrays.fill(ofState[n], 0);
      Arrays.fill(ofMemory[n], 0);
    }
    for (int t = time - 1; t >= 0; t--) {
      for (int n = 0; n < rows; n++) {
        long position = (long) t * batch + first + n;
        load(states.segment(), position, now);
        if (stateOnly) {
          long at = 4L * position * hidden;
          MemorySegment.copy(gradient.segment(), FLOAT, at, given[given.length - 1], 0, hidden);
        } else {
          load(gradient.segment(), position, given);
        }
        loadBefore(t, position);
        switch (cell) {
          case LSTM -> lstm(ofState[n], ofMemory[n]);
          case GRU -> gru(ofState[n]);
        }
        store(position, n);
      }
      if (t > 0) {
        product.multiply(pulled);
        for (int n = 0; n < rows; n++) {
          product.row(n, scratch);
          if (cell == Recurrent.Cell.LSTM) {
            System.arraycopy(scratch, 0, ofState[n], 0, hidden);
          } else {
            Loops.add(ofState[n], scratch, ofState[n], hidden);
          }
        }
      }
    }
  }

  private void load(MemorySegment from, long position, float[][] parts) {
    MemorySegment.copy(from, FLOAT, 4L * position * row.length, row, 0, row.length);
    for (int i = 0; i < parts.length; i++) {
      System.arraycopy(row, i * hidden, parts[i], 0, hidden);
    }
  }

  /** What is fifth in the step before: the memory of an LSTM, the state of a GRU. */
  private void loadBefore(int t, long position) {
    if (t == 0) {
      Arrays.fill(before, 0);
      return;
    }
    long at = 4L * ((position - batch) * row.length + 4L * hidden);
    MemorySegment.copy(states.segment(), FLOAT, at, before, 0, hidden);
  }

  private void store(long position, int n) {
    for (int i = 0; i < 4; i++) {
      System.arraycopy(pulls[i], 0, pulledRow, i * hidden, hidden);
    }
    MemorySegment.copy(
        pulledRow, 0, out.segment(), FLOAT, 4L * position * pulledRow.length, pulledRow.length);
    int gates = cell.gates() * hidden;
    if (cell == Recurrent.Cell.GRU) {
      System.arraycopy(pulls[3], 0, pulledRow, 2 * hidden, hidden);
    }
    MemorySegment.copy(pulledRow, 0, pulled, FLOAT, 4L * n * gates, gates);
  }

  private void lstm(float[] dh, float[] dc) {
    Loops.add(dh, given[5], dh, hidden);
    Loops.add(dc, given[4], dc, hidden);
    Loops.unary(Unary.Kind.TANH, now[4], scratch, hidden);
    ofLstmMemory(dh, now[3], scratch, dc, hidden);
    sigmoidInput(dc, now[2], given[0], now[0], pulls[0], hidden);
    sigmoidInput(dc, before, given[1], now[1], pulls[1], hidden);
    tanhInput(dc, now[0], given[2], now[2], pulls[2], hidden);
    sigmoidInput(dh, scratch, given[3], now[3], pulls[3], hidden);
    Loops.multiply(dc, now[1], dc, hidden);
  }

  private static void ofLstmMemory(float[] dh, float[] o, float[] tanh, float[] dc, int n) {
    for (int j = 0; j < n; j++) {
      dc[j] += dh[j] * o[j] * (1 - tanh[j] * tanh[j]);
    }
  }

  /** (d a + g) y (1 - y), for y a sigmoid. */
  private static void sigmoidInput(float[] d, float[] a, float[] g, float[] y, float[] out, int n) {
    for (int j = 0; j < n; j++) {
      out[j] = (d[j] * a[j] + g[j]) * (y[j] - y[j] * y[j]);
    }
  }

  /** (d a + g) (1 - y^2), for y a tanh. */
  private static void tanhInput(float[] d, float[] a, float[] g, float[] y, float[] out, int n) {
    for (int j = 0; j < n; j++) {
      out[j] = (d[j] * a[j] + g[j]) * (1 - y[j] * y[j]);
    }
  }

  private void gru(float[] dh) {
    Loops.add(dh, given[4], dh, hidden);
    ofCandidate(dh, now[1], given[2], now[2], pulls[2], hidden);
    Loops.subtract(before, now[2], scratch, hidden);
    sigmoidInput(dh, scratch, given[1], now[1], pulls[1], hidden);
    sigmoidInput(pulls[2], now[3], given[0], now[0], pulls[0], hidden);
    Loops.multiply(pulls[2], now[0], pulls[3], hidden);
    Loops.add(pulls[3], given[3], pulls[3], hidden);
    Loops.multiply(dh, now[1], dh, hidden);
  }

  private static void ofCandidate(float[] dh, float[] z, float[] g, float[] y, float[] out, int n) {
    for (int j = 0; j < n; j++) {
      out[j] = (dh[j] * (1 - z[j]) + g[j]) * (1 - y[j] * y[j]);
    }
  }

  @Override
  public void close() {
    product.close();
    arena.close();
  }
}
