package dev.kastor.agent.trainer;

import dev.kastor.engine.train.Section;
import dev.kastor.engine.train.TrainingState;
import dev.kastor.engine.train.Tuner;
import dev.kastor.plugin.Chosen;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Progress;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Learning rate of a replica's steps: the base rate times the factor of the rule, which follows the
 * batch, times that of the tuner, which follows what was applied.
 *
 * <p>Only {@link #applied} changes what is state. One thread owns it.
 */
final class LearningRate {
  private final TrainingSettings settings;
  private final @Nullable Tuner tuner;
  private final String tunerName;
  private @Nullable Double last;

  LearningRate(TrainingSettings settings) {
    this.settings = settings;
    this.tuner = settings.method().tuner().orElse(null);
    this.tunerName = settings.method().tune().map(Chosen::name).orElse("");
  }

  /**
   * The rate of the step in progress.
   *
   * @param batchScale its batch over the initial one
   * @param gradient noise statistics; empty until they are known
   */
  double of(double batchScale, Optional<GradientStats> gradient) {
    return settings.baseLearningRate()
        * settings.learningRateRule().factor(batchScale, gradient)
        * tuned();
  }

  private double tuned() {
    double factor = tuner == null ? 1 : tuner.factor();
    if (!(factor > 0 && factor <= Double.MAX_VALUE)) {
      throw new IllegalStateException(
          "the tuner %s gives the factor %s for the learning rate, which is no finite number above 0"
              .formatted(tunerName, factor));
    }
    return factor;
  }

  /** The rate of the last step that was applied here. */
  Optional<Double> last() {
    return Optional.ofNullable(last);
  }

  /**
   * Goes on behind a step that was applied.
   *
   * @param rate which the step had
   * @param loss mean over its examples
   */
  void applied(Progress progress, int globalBatch, double batchScale, double loss, double rate) {
    last = rate;
    if (tuner != null) {
      tuner.applied(new Tuner.AppliedStep(progress, globalBatch, batchScale, loss, rate));
    }
  }

  /** Sections of a state whose learning rate is tuned; their arrays are live. */
  List<Section> tuning() {
    return tuner == null
        ? List.of()
        : TrainingState.named(TrainingState.TUNER, tunerName, tuner.state());
  }
}
