package dev.kastor.agent.trainer;

import dev.kastor.engine.program.TrainingMethod;
import dev.kastor.engine.train.AuditDigest;
import dev.kastor.engine.train.GradientProbe;
import dev.kastor.engine.train.GradientStage;
import dev.kastor.engine.train.Section;
import dev.kastor.engine.train.SyncPolicy;
import dev.kastor.engine.train.Trainable;
import dev.kastor.engine.train.TrainingState;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Rounds of local steps: all replicas train by themselves from the same anchor on, and then take
 * the mean of what they came to.
 *
 * <p>The anchor is the state before the round. When {@link #run} returns, and when it fails, the
 * model is back at it: what a replica came to is kept beside the state, to be exchanged, and only
 * {@link #apply} changes the state. So a round whose exchange failed can be computed again. One
 * thread owns it.
 */
final class Rounds {
  private final SyncPolicy policy;
  private final String name;
  private final Trainable model;
  private final ModelUpdate update;
  private final Passes passes;
  private final float[] gradient;
  private final float[] batchStatistics;
  private final Kept parameters;
  private final Kept statistics;
  private final List<Kept> slots;

  /** Of the last round, if a stage of gradients ended it. */
  private @Nullable DivergedException diverged;

  private Rounds(
      SyncPolicy policy,
      String name,
      Trainable model,
      ModelUpdate update,
      Passes passes,
      float[] gradient,
      float[] batchStatistics) {
    this.policy = policy;
    this.name = name;
    this.model = model;
    this.update = update;
    this.passes = passes;
    this.gradient = gradient;
    this.batchStatistics = batchStatistics;
    this.parameters = Kept.of(model::parameters);
    this.statistics = Kept.of(model::statistics);
    this.slots = update.slots().stream().map(slot -> Kept.of(() -> slot)).toList();
  }

  /**
   * Rounds of a replica that has trained none yet; empty where a job's method has none.
   *
   * @param gradient of the steps, then the change of the parameters in the round
   * @param batchStatistics of the steps, then the running statistics after the round
   */
  static Optional<Rounds> of(
      TrainingMethod method,
      Trainable model,
      ModelUpdate update,
      Passes passes,
      float[] gradient,
      float[] batchStatistics) {
    return method
        .syncPolicy()
        .map(policy ->
            new Rounds(
                policy,
                method.sync().orElseThrow().name(),
                model,
                update,
                passes,
                gradient,
                batchStatistics));
  }

  /**
   * A vector of the state, and one beside it.
   *
   * @param current gives the vector that training changes, to be asked for whenever it is used
   * @param beside its anchor within a round, and after one what the replica came to
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Kept(Supplier<float[]> current, float[] beside) {
    static Kept of(Supplier<float[]> current) {
      return new Kept(current, new float[current.get().length]);
    }

    float[] live() {
      return current.get();
    }

    void keep() {
      System.arraycopy(live(), 0, beside, 0, beside.length);
    }

    void restore() {
      System.arraycopy(beside, 0, live(), 0, beside.length);
    }

    void swap() {
      float[] live = live();
      for (int i = 0; i < live.length; i++) {
        float anchor = beside[i];
        beside[i] = live[i];
        live[i] = anchor;
      }
    }
  }

  /**
   * Steps of the next round.
   *
   * @param left steps that are left of the job's work: the last round has no more
   */
  int steps(double left) {
    int period = policy.period();
    if (period < 1 || period > SyncPolicy.MOST_STEPS) {
      throw new IllegalStateException(
          "the sync policy %s gives a round of %d steps; it may have 1 to %d"
              .formatted(name, period, SyncPolicy.MOST_STEPS));
    }
    return Math.max(1, (int) Math.min(period, Math.ceil(left)));
  }

  /**
   * Trains our part of a round.
   *
   * @param place of its first step
   * @param steps of it
   * @param learningRate of all of them
   * @param step steps applied before it
   * @param probe on which the noise is measured in the first step, where all have the same
   *     parameters
   * @param probed receives the values of that step's gradient
   * @return what the passes gave: of all steps, and the squared norms of the first
   */
  Passes.Ran run(
      Passes.Place place,
      int steps,
      double learningRate,
      long step,
      @Nullable GradientProbe probe,
      float[] probed,
      Replica.Listener listener) {
    diverged = null;
    parameters.keep();
    statistics.keep();
    slots.forEach(Kept::keep);
    boolean whole = false;
    try {
      Passes.Ran first = passes.run(place, probe, probed, _ -> {});
      double loss = first.loss();
      AuditDigest trained = first.trained();
      boolean finite = update(place, first, learningRate, step);
      listener.stepped(step + 1);
      int done = 1;
      for (; done < steps && finite; done++) {
        Passes.Place next = place.at(done);
        Passes.Ran ran = passes.run(next, null, probed, _ -> {});
        loss += ran.loss();
        trained = trained.plus(ran.trained());
        finite = update(next, ran, learningRate, step + done);
        listener.stepped(step + done + 1);
      }
      finite = leave() && finite;
      whole = true;
      if (!finite) {
        Arrays.fill(gradient, Float.NaN);
      }
      listener.ready(0);
      return new Passes.Ran(loss / done, first.squaredNorms(), trained, finite);
    } finally {
      if (!whole) {
        parameters.restore();
        statistics.restore();
        slots.forEach(Kept::restore);
      }
    }
  }

  /** Applies a local step; whether all is finite so far. */
  private boolean update(Passes.Place place, Passes.Ran ran, double learningRate, long step) {
    if (!ran.finite()) {
      return false;
    }
    try {
      update.change(
          gradient, new GradientStage.StepView(step, place.plan().globalBatchSize(1), ran.loss()));
    } catch (DivergedException e) {
      diverged = e;
      return false;
    }
    update.apply(gradient, batchStatistics, learningRate, step);
    return true;
  }

  /** Goes back to the anchor, with what we came to beside it; whether all of that is finite. */
  private boolean leave() {
    float[] reached = parameters.live();
    for (int i = 0; i < gradient.length; i++) {
      gradient[i] = reached[i] - parameters.beside()[i];
    }
    parameters.restore();
    System.arraycopy(statistics.live(), 0, batchStatistics, 0, batchStatistics.length);
    statistics.restore();
    slots.forEach(Kept::swap);
    return Vectors.isFinite(gradient) && Vectors.isFinite(batchStatistics) && areSlotsFinite();
  }

  /** What the optimizer's vectors came to, then the sum of that over replicas. */
  List<float[]> slots() {
    return slots.stream().map(Kept::beside).toList();
  }

  /** Whether all of {@link #slots} is finite. */
  boolean areSlotsFinite() {
    return slots().stream().allMatch(Vectors::isFinite);
  }

  /** Why our part of the last round has no finite end, where it was a stage of gradients. */
  Optional<DivergedException> diverged() {
    return Optional.ofNullable(diverged);
  }

  /**
   * Moves the state from the anchor to the mean of what all replicas came to.
   *
   * <p>The mean change of the parameters and the mean statistics are in the vectors of gradient and
   * batch statistics, the sums of the slots in {@link #slots}.
   */
  void apply(int replicas) {
    Vectors.add(gradient, model.parameters(), 0, gradient.length);
    System.arraycopy(batchStatistics, 0, model.statistics(), 0, batchStatistics.length);
    for (Kept slot : slots) {
      Vectors.scale(slot.beside(), 1f / replicas);
      slot.restore();
    }
  }

  /** Tells the policy of a round that was applied. */
  void applied(SyncPolicy.AppliedRound round) {
    policy.applied(round);
  }

  /** Sections of the policy's state; their arrays are live. */
  List<Section> sections() {
    return TrainingState.named(TrainingState.SYNC, name, policy.state());
  }
}
