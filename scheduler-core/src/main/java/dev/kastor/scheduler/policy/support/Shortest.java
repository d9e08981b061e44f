package dev.kastor.scheduler.policy.support;

/**
 * Positions by rising value, ties by position, found one at a time: a binary heap, so that whoever
 * needs only the first few of many does not pay for sorting all.
 */
public final class Shortest {
  private final double[] values;
  private final int[] heap;
  private int size;

  /** Positions of these values. */
  public Shortest(double[] values) {
    this.values = values;
    size = values.length;
    heap = new int[size];
    for (int i = 0; i < size; i++) {
      heap[i] = i;
    }
    for (int i = size / 2 - 1; i >= 0; i--) {
      sink(i);
    }
  }

  /** Whether all positions were given out. */
  public boolean isEmpty() {
    return size == 0;
  }

  /** The position of the least value that is left. */
  public int next() {
    int first = heap[0];
    heap[0] = heap[--size];
    sink(0);
    return first;
  }

  private void sink(int from) {
    int moving = heap[from];
    int i = from;
    for (int child = 2 * i + 1; child < size; child = 2 * i + 1) {
      if (child + 1 < size && before(heap[child + 1], heap[child])) {
        child++;
      }
      if (!before(heap[child], moving)) {
        break;
      }
      heap[i] = heap[child];
      i = child;
    }
    heap[i] = moving;
  }

  private boolean before(int a, int b) {
    int byValue = Double.compare(values[a], values[b]);
    return byValue != 0 ? byValue < 0 : a < b;
  }
}
