package dev.kastor.simulator.event;

import dev.kastor.simulator.replay.Sample;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * Samples of a replay, evenly thinned so that a long one keeps between {@value #MOST} and half as
 * many. Owned by one simulation.
 */
final class Samples {
  private static final int MOST = 4000;

  private final List<Sample> kept = new ArrayList<>();
  private int stride = 1;
  private long offered;

  /** Takes this sample if it is one of those to keep; only then is it made. */
  void offer(Supplier<Sample> sample) {
    if (offered++ % stride != 0) {
      return;
    }
    kept.add(sample.get());
    if (kept.size() == MOST) {
      List<Sample> half = new ArrayList<>();
      for (int i = 0; i < MOST; i += 2) {
        half.add(kept.get(i));
      }
      kept.clear();
      kept.addAll(half);
      stride *= 2;
    }
  }

  List<Sample> kept() {
    return List.copyOf(kept);
  }
}
