package dev.kastor.agent.trainer;

import dev.kastor.engine.train.AuditDigest;
import dev.kastor.engine.train.DeviceTraining;
import dev.kastor.engine.train.ElasticSampler;
import dev.kastor.engine.train.GradientProbe;
import dev.kastor.engine.train.Trainable;
import dev.kastor.protocol.BatchPlan;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Passes of a replica's steps: the mean of their gradients and of their batch statistics.
 *
 * <p>Both vectors belong to whoever made it. One thread uses it.
 */
final class Passes {
  private final Trainable model;
  private final ExampleStream examples;
  private final float[] gradient;
  private final float[] statistics;
  private final float[] passGradient;
  private final float[] passStatistics;

  /**
   * Passes of a model.
   *
   * @param gradient receives the mean gradient
   * @param statistics receives the mean batch statistics
   */
  Passes(Trainable model, ExampleStream examples, float[] gradient, float[] statistics) {
    this.model = model;
    this.examples = examples;
    this.gradient = gradient;
    this.statistics = statistics;
    this.passGradient = new float[gradient.length];
    this.passStatistics = new float[statistics.length];
  }

  /**
   * What the passes of a step gave beside both vectors.
   *
   * @param loss mean over their examples
   * @param squaredNorms sum of the squared norms of their gradients, where there is a probe the
   *     estimate by that
   * @param trained the examples
   * @param finite whether all values of both vectors are finite
   */
  record Ran(double loss, double squaredNorms, AuditDigest trained, boolean finite) {}

  /**
   * Place of a replica's step.
   *
   * @param replicas of the ring
   * @param rank of the replica
   * @param step of the round, from 0
   */
  record Place(BatchPlan plan, int replicas, int rank, int step) {
    /** Passes of the step. */
    int passes() {
      return plan.accumulationSteps() + 1;
    }

    /** That of another step of the round. */
    Place at(int other) {
      return new Place(plan, replicas, rank, other);
    }
  }

  /**
   * Runs the passes of a step.
   *
   * @param probe on which the noise is measured; null for the whole gradient
   * @param probed receives the values of the gradient at its coordinates
   * @param ready told from which element on the gradient is final, again and again, down to 0
   */
  Ran run(Place place, @Nullable GradientProbe probe, float[] probed, IntConsumer ready) {
    return run(place, new Sums(place.passes(), probe, probed, ready));
  }

  /** Runs the passes of a step whose gradients stay on a device: the vector here is as it was. */
  Ran runOnDevice(Place place, DeviceTraining device) {
    return run(place, new OnDevice(place.passes(), device));
  }

  private Ran run(Place place, Kind kind) {
    int passes = place.passes();
    double loss = 0;
    AuditDigest trained = AuditDigest.EMPTY;
    for (int pass = 0; pass < passes; pass++) {
      ElasticSampler.Take take = examples.take(place, pass);
      loss += kind.run(take.examples(), pass, pass == 0 ? statistics : passStatistics);
      trained = trained.plus(AuditDigest.of(take));
      if (pass > 0) {
        Vectors.add(passStatistics, statistics, 0, statistics.length);
      }
    }
    if (passes > 1) {
      Vectors.scale(statistics, 1f / passes);
    }
    boolean finite = kind.isFinite() && Double.isFinite(Vectors.squaredNorm(statistics));
    return new Ran(loss / passes, kind.squaredNorms(), trained, finite);
  }

  /** What runs the passes of a step, and knows what became of their gradients. */
  private interface Kind {
    /** Runs one of them and returns its loss. */
    double run(int[] examples, int pass, float[] batchStatistics);

    /** See {@link Ran}. */
    double squaredNorms();

    boolean isFinite();
  }

  /** Gradients that stay on a device. */
  private static final class OnDevice implements Kind {
    private final int passes;
    private final DeviceTraining device;
    private double squaredNorms;

    OnDevice(int passes, DeviceTraining device) {
      this.passes = passes;
      this.device = device;
    }

    @Override
    public double run(int[] examples, int pass, float[] batchStatistics) {
      DeviceTraining.Passed passed = device.pass(examples, batchStatistics, pass, passes);
      squaredNorms += passed.squaredNorm();
      return passed.loss();
    }

    @Override
    public double squaredNorms() {
      return squaredNorms;
    }

    @Override
    public boolean isFinite() {
      return Double.isFinite(squaredNorms);
    }
  }

  /** Gradients that come to the host, and what becomes of them piece by piece. */
  private final class Sums implements Kind {
    private final int passes;
    private final @Nullable GradientProbe probe;
    private final float[] probed;
    private final IntConsumer ready;
    private double squaredNorms;
    private double probedNorms;
    private int end;

    Sums(int passes, @Nullable GradientProbe probe, float[] probed, IntConsumer ready) {
      this.passes = passes;
      this.probe = probe;
      this.probed = probed;
      this.ready = ready;
    }

    @Override
    public double run(int[] examples, int pass, float[] batchStatistics) {
      float[] target = pass == 0 ? gradient : passGradient;
      double loss = model.pass(examples, target, batchStatistics, pass(pass));
      if (end > 0) {
        throw new IllegalStateException(
            "The pass never told of the first %d elements of its gradient.".formatted(end));
      }
      return loss;
    }

    @Override
    public double squaredNorms() {
      return probe == null ? squaredNorms : probedNorms;
    }

    @Override
    public boolean isFinite() {
      return Double.isFinite(squaredNorms);
    }

    private IntConsumer pass(int pass) {
      end = gradient.length;
      float[] own = pass == 0 ? gradient : passGradient;
      boolean last = pass == passes - 1;
      return from -> {
        squaredNorms += Vectors.squaredNorm(own, from, end);
        if (probe != null) {
          probedNorms += probe.squaredNorm(own, from, end);
        }
        if (pass > 0) {
          Vectors.add(passGradient, gradient, from, end);
        }
        if (last) {
          if (passes > 1) {
            Vectors.scale(gradient, 1f / passes, from, end);
          }
          if (probe != null) {
            probe.read(gradient, from, end, probed);
          }
          ready.accept(from);
        }
        end = from;
      };
    }
  }
}
