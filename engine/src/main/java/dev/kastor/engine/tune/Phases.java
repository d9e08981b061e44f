package dev.kastor.engine.tune;

import dev.kastor.engine.train.Section;
import dev.kastor.engine.train.Tuner;
import dev.kastor.engine.train.TunerPlugin;
import dev.kastor.plugin.Option;
import dev.kastor.plugin.Options;
import dev.kastor.protocol.Progress;
import java.util.List;

/**
 * Learning-rate schedule of three phases: a linear warm-up, a constant rate, and a decay to a floor
 * at the end of the work.
 *
 * <p>The cosine is that of SGDR without restarts (Loshchilov and Hutter, ICLR 2017, equation 5).
 * All is measured in scale-invariant steps and not in steps, so that a job comes to the same factor
 * at the same progress, whatever its batches were.
 */
final class Phases implements TunerPlugin {
  private static final Option<Integer> WARM_UP =
      Option.count("warmUp", 0, "steps at the initial batch over which the factor rises to 1")
          .where(value -> value >= 0, "of at least 0");

  private static final Option<Decay> DECAY =
      Option.choice("decay", Decay.class, Decay.COSINE, "curve on which the factor falls");

  private static final Option<Double> DECAY_FROM =
      Option.number("decayFrom", 0, "share of the work from which on, after the warm-up, it falls")
          .where(value -> value >= 0 && value < 1, "of at least 0 and below 1");

  private static final Option<Double> FLOOR =
      Option.number("floor", 0.01, "factor at the end of the work")
          .where(value -> value > 0 && value <= 1, "above 0 and at most 1");

  /** Curves on which the factor falls. */
  private enum Decay {
    NONE,
    LINEAR,
    COSINE;

    /** The share of the fall that is done after a share of the phase. */
    double fallen(double share) {
      return switch (this) {
        case NONE -> 0;
        case LINEAR -> share;
        // The same bits on all processors, as replicas may have different ones.
        case COSINE -> (1 - StrictMath.cos(Math.PI * share)) / 2;
      };
    }
  }

  @Override
  public String name() {
    return "phases";
  }

  @Override
  public String description() {
    return "Raises the learning rate in a warm-up, keeps it, and lets it fall to the end of the work.";
  }

  @Override
  public List<Option<?>> options() {
    return List.of(WARM_UP, DECAY, DECAY_FROM, FLOOR);
  }

  @Override
  public Tuner create(Options options) {
    return new Schedule(
        options.get(WARM_UP), options.get(DECAY), options.get(DECAY_FROM), options.get(FLOOR));
  }

  /** Schedule of one replica. */
  private static final class Schedule implements Tuner {
    private final int warmUp;
    private final Decay decay;
    private final double decayFrom;
    private final double floor;
    private final double[] factor = {1};

    Schedule(int warmUp, Decay decay, double decayFrom, double floor) {
      this.warmUp = warmUp;
      this.decay = decay;
      this.decayFrom = decayFrom;
      this.floor = floor;
      if (warmUp > 0) {
        factor[0] = rise(0);
      }
    }

    @Override
    public List<Section> state() {
      return List.of(Section.of("factor", factor));
    }

    @Override
    public double factor() {
      return factor[0];
    }

    @Override
    public void applied(AppliedStep step) {
      Progress progress = step.progress();
      double done = progress.scaleInvariantSteps();
      factor[0] = done < warmUp ? rise(done) : fall(done, progress.totalScaleInvariantSteps());
    }

    /** The first step is not lost: its factor is that of its end. */
    private double rise(double done) {
      return Math.min(1, (done + 1) / warmUp);
    }

    private double fall(double done, double total) {
      double begin = Math.max(warmUp, decayFrom * total);
      double share = done > begin ? Math.min(1, (done - begin) / (total - begin)) : 0;
      return Math.max(floor, 1 - (1 - floor) * decay.fallen(share));
    }
  }
}
