package dev.kastor.engine.program;

import dev.kastor.engine.exec.MemoryCapException;
import dev.kastor.engine.nn.Batch;
import dev.kastor.engine.nn.GraphModel;
import dev.kastor.engine.nn.Scores;

/** Batches of held-out examples, as large as the memory of the devices has room for. */
final class HeldOutBatches {
  /** Makes a batch. */
  @FunctionalInterface
  interface Source {
    /**
     * The batch of some held-out examples.
     *
     * @param from the first
     * @param to behind the last
     */
    Batch batch(int from, int to);
  }

  private int most;

  /**
   * Batches that begin with this size.
   *
   * @param most halved, for good, where there is no room for a pass
   */
  HeldOutBatches(int most) {
    this.most = most;
  }

  /**
   * Scores held-out examples.
   *
   * @throws MemoryCapException if there is no room for one alone
   */
  Scores scores(GraphModel model, int examples, Source source) {
    Scores scores = Scores.NONE;
    int from = 0;
    while (from < examples) {
      int to = Math.min(examples, from + most);
      try {
        scores = scores.plus(model.score(source.batch(from, to)));
        from = to;
      } catch (MemoryCapException e) {
        if (to - from == 1) {
          throw e;
        }
        most = (to - from) / 2;
      }
    }
    return scores;
  }
}
