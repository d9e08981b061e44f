package dev.kastor.agent.trainer;

import dev.kastor.engine.train.AuditDigest;
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
    int passes = place.plan().accumulationSteps() + 1;
    double loss = 0;
    AuditDigest trained = AuditDigest.EMPTY;
    Sums sums = new Sums(passes, probe, probed, ready);
    for (int pass = 0; pass < passes; pass++) {
      ElasticSampler.Take take = examples.take(place, pass);
      boolean first = pass == 0;
      float[] target = first ? gradient : passGradient;
      float[] passed = first ? statistics : passStatistics;
      loss += model.pass(take.examples(), target, passed, sums.pass(pass));
      sums.requireWhole();
      trained = trained.plus(AuditDigest.of(take));
      if (!first) {
        Vectors.add(passStatistics, statistics, 0, statistics.length);
      }
    }
    if (passes > 1) {
      Vectors.scale(statistics, 1f / passes);
    }
    boolean finite =
        Double.isFinite(sums.squaredNorms) && Double.isFinite(Vectors.squaredNorm(statistics));
    double squaredNorms = probe == null ? sums.squaredNorms : sums.probedNorms;
    return new Ran(loss / passes, squaredNorms, trained, finite);
  }

  /** What becomes of the gradients of a step's passes, piece by piece. */
  private final class Sums {
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

    void requireWhole() {
      if (end > 0) {
        throw new IllegalStateException(
            "The pass never told of the first %d elements of its gradient.".formatted(end));
      }
    }

    IntConsumer pass(int pass) {
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
