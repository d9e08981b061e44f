package dev.kastor.engine.select;

import dev.kastor.engine.train.Section;
import java.util.List;

/**
 * Newest losses of a job, in a ring, staged: what is added counts after {@link #commit} alone. Not
 * thread-safe.
 */
final class LossHistory {
  private final float[] kept;

  /** One element: losses added since the job began. */
  private final long[] keptCount = {0};

  private final float[] staged;
  private long stagedCount;

  /**
   * A history without losses.
   *
   * @param capacity losses that it holds at most, at least 1
   */
  LossHistory(int capacity) {
    kept = new float[capacity];
    staged = new float[capacity];
  }

  List<Section> state() {
    return List.of(Section.of("losses", kept), Section.of("judged", keptCount));
  }

  /** Goes back to what was committed. */
  void begin() {
    System.arraycopy(kept, 0, staged, 0, kept.length);
    stagedCount = keptCount[0];
  }

  void commit() {
    System.arraycopy(staged, 0, kept, 0, kept.length);
    keptCount[0] = stagedCount;
  }

  /**
   * Adds a loss.
   *
   * @param loss counts as the largest if it is no number
   * @return its place among the newest losses, itself included: the share of those that are smaller
   *     and half of those that are equal, in (0, 1)
   */
  double add(float loss) {
    float added = Float.isNaN(loss) ? Float.POSITIVE_INFINITY : loss;
    staged[(int) (stagedCount % staged.length)] = added;
    stagedCount++;
    int length = (int) Math.min(stagedCount, staged.length);
    int less = 0;
    int equal = 0;
    for (int i = 0; i < length; i++) {
      if (staged[i] < added) {
        less++;
      } else if (staged[i] == added) {
        equal++;
      }
    }
    return (less + 0.5 * equal) / length;
  }
}
