package dev.kastor.engine.tune;

import dev.kastor.engine.train.Tuner;
import dev.kastor.engine.train.Tuner.AppliedStep;
import dev.kastor.engine.train.TunerPlugin;
import dev.kastor.plugin.Chosen;
import dev.kastor.protocol.Progress;

/** Job of which a tuner sees the steps. */
final class Job {
  static final int INITIAL_BATCH = 4;

  private final double total;
  private long step;
  private double done;
  private long examples;

  /** A job of so much work, in steps at the initial batch. */
  Job(double total) {
    this.total = total;
  }

  static Tuner tuner(String chosen) {
    Chosen<TunerPlugin> plugin = Tuners.BUILT_IN.choose(chosen);
    return plugin.plugin().create(plugin.options());
  }

  /** Steps at the initial batch that are done. */
  double done() {
    return done;
  }

  /**
   * A step that was applied.
   *
   * @param scale batch over the initial one
   * @param gain steps at the initial batch that it is worth
   */
  AppliedStep step(double loss, double scale, double gain) {
    int batch = (int) (scale * INITIAL_BATCH);
    step++;
    done += gain;
    examples += batch;
    return new AppliedStep(
        new Progress(step, done, total, examples, 0), batch, scale, loss, 0.1 * scale);
  }

  /** A step at the initial batch. */
  AppliedStep step(double loss) {
    return step(loss, 1, 1);
  }
}
