package dev.kastor.engine.backend.cpu;

import dev.kastor.engine.graph.Primitive.Binary;
import dev.kastor.engine.graph.Primitive.Unary;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

/**
 * A tree of elementwise ops over views, evaluated a block at a time.
 *
 * <p>Build it bottom-up: each method returns the number of the block that will hold its values; a
 * block may be used once.
 */
final class Expression {
  private static final int BLOCK = 2048;

  private interface Step {
    void run(int start, int length);
  }

  private final int unit;
  private final int size;
  private final List<Step> steps = new ArrayList<>();
  private final List<Step> once = new ArrayList<>();
  private final List<float[]> blocks = new ArrayList<>();
  private final Deque<Integer> free = new ArrayDeque<>();
  private boolean prepared;
  private int length;

  /**
   * @param unit every block holds a multiple of this many elements, except the last
   */
  Expression(int unit) {
    this.unit = unit;
    this.size = unit * Math.max(1, BLOCK / unit);
  }

  /** Elements of a full block. */
  int size() {
    return size;
  }

  private int take() {
    if (!free.isEmpty()) {
      return free.pop();
    }
    blocks.add(new float[size]);
    return blocks.size() - 1;
  }

  int literal(float value) {
    blocks.add(new float[size]);
    int block = blocks.size() - 1;
    Arrays.fill(blocks.get(block), value);
    return ~block;
  }

  int load(View view) {
    int period = view.period();
    if (period != 0 && unit % period == 0) {
      // Every block starts at the same place of the cycle, so one read serves all.
      blocks.add(new float[size]);
      int block = blocks.size() - 1;
      once.add((_, n) -> view.load(blocks.get(block), 0, n));
      return ~block;
    }
    int block = take();
    float[] values = blocks.get(block);
    steps.add((start, n) -> view.load(values, start, n));
    return block;
  }

  int unary(Unary.Kind kind, int operand) {
    float[] x = values(operand);
    int block = target(operand);
    float[] out = blocks.get(block);
    steps.add((_, n) -> Loops.unary(kind, x, out, n));
    return block;
  }

  int binary(Binary.Kind kind, int left, int right) {
    float[] a = values(left);
    float[] b = values(right);
    int block = target(left, right);
    float[] out = blocks.get(block);
    steps.add((_, n) -> Loops.binary(kind, a, b, out, n));
    return block;
  }

  /** One operand where the other is positive, else 0. */
  int gate(int tested, int operand) {
    float[] x = values(tested);
    float[] a = values(operand);
    int block = target(tested, operand);
    float[] out = blocks.get(block);
    steps.add((_, n) -> Loops.gate(x, a, out, n));
    return block;
  }

  int select(int condition, int yes, int no) {
    float[] c = values(condition);
    float[] a = values(yes);
    float[] b = values(no);
    int block = target(condition, yes, no);
    float[] out = blocks.get(block);
    steps.add((_, n) -> Loops.select(c, a, b, out, n));
    return block;
  }

  /** The values of a block number; negative numbers are blocks that must not be overwritten. */
  float[] values(int number) {
    return blocks.get(number < 0 ? ~number : number);
  }

  /** Results replace an operand where one may be overwritten. */
  private int target(int... operands) {
    int result = -1;
    for (int operand : operands) {
      if (operand >= 0) {
        if (result < 0) {
          result = operand;
        } else {
          free.push(operand);
        }
      }
    }
    return result >= 0 ? result : take();
  }

  /** Must precede the blocks of a run over {@code elements} elements. */
  void begin(int elements) {
    prepared = false;
    length = Math.min(size, elements);
  }

  /** Computes elements {@code [start, start + count)} into the result's block. */
  void evaluate(int start, int count) {
    if (!prepared) {
      for (Step step : once) {
        step.run(0, length);
      }
      prepared = true;
    }
    for (Step step : steps) {
      step.run(start, count);
    }
  }
}
