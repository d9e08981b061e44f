package dev.kastor.agent.trainer;

import dev.kastor.engine.checkpoint.TrainedParameters;
import dev.kastor.engine.train.DeviceTraining;
import dev.kastor.engine.train.GradientProbe;
import dev.kastor.engine.train.GradientStage;
import dev.kastor.engine.train.NoiseScaleEstimator;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.Section;
import dev.kastor.engine.train.SyncPolicy;
import dev.kastor.engine.train.Trainable;
import dev.kastor.engine.train.TrainingState;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Progress;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The model of this process with all that training changes in it.
 *
 * <p>A step is {@link #select}, {@link #compute}, an exchange of the vectors {@link #gradient},
 * {@link #batchStatistics}, {@link #probe} and {@link #slots} by whoever calls, and {@link #apply}.
 * A round of local steps is the same, with the change of the parameters in the place of the
 * gradient. Only {@code apply} changes the state, so a step whose exchange failed can be computed
 * again. One thread owns it.
 */
final class Replica {
  private final Trainable model;
  private final ModelUpdate update;
  private final TrainingSettings settings;
  private final ExampleStream examples;
  private final LearningRate learningRate;
  private final GradientNoise noise;
  private final Passes passes;

  /** Null where replicas exchange in every step. */
  private final @Nullable Rounds rounds;

  private final float[] gradient;
  private final float[] batchStatistics;
  private final double totalSteps;

  /** Has the gradient of the step in progress; null where the vector here has it. */
  private @Nullable DeviceTraining onDevice;

  /** Of the step in progress; null where what is exchanged is the true gradient. */
  private @Nullable GradientProbe probe;

  private float[] probed = {};
  private boolean hasState;
  private long step;
  private double scaleInvariantSteps;

  Replica(Trainable model, Optimizer optimizer, TrainingSettings settings) {
    this.model = model;
    this.settings = settings;
    this.examples = new ExampleStream(model, settings);
    this.learningRate = new LearningRate(settings);
    this.noise = new GradientNoise(settings.initialBatch());
    int parameters = model.parameters().length;
    int statistics = model.statistics().length;
    if (model.layout().elements() != parameters) {
      throw new IllegalArgumentException(
          "the model has %d parameters and its layout %d"
              .formatted(parameters, model.layout().elements()));
    }
    this.update = new ModelUpdate(model, optimizer, settings.method());
    this.gradient = new float[parameters];
    this.batchStatistics = new float[statistics];
    this.passes = new Passes(model, examples, gradient, batchStatistics);
    this.rounds =
        Rounds.of(settings.method(), model, update, passes, gradient, batchStatistics).orElse(null);
    this.totalSteps =
        settings
            .work()
            .totalSteps(settings.initialBatch(), model.trainingExamples(), examples::trained);
  }

  /** Whether it holds a training state, be it the initial one. */
  boolean hasState() {
    return hasState;
  }

  /** Steps applied. */
  long step() {
    return step;
  }

  /** Whether the declared work is done. */
  boolean done() {
    return scaleInvariantSteps >= totalSteps;
  }

  Progress progress() {
    return new Progress(
        step, scaleInvariantSteps, totalSteps, examples.trained(), examples.epoch());
  }

  Optional<GradientStats> gradientStats() {
    return noise.stats();
  }

  Optional<Double> learningRate() {
    return learningRate.last();
  }

  /** See {@link ExampleStream#lostOrRepeated}. */
  long lostOrRepeated() {
    return examples.lostOrRepeated();
  }

  /** See {@link ExampleStream#told}. */
  Optional<String> selected() {
    return examples.told();
  }

  Trainable.Metric evaluate() {
    return model.evaluate();
  }

  /** See {@link Trainable#heldOutExamples}. */
  int heldOutExamples() {
    return model.heldOutExamples();
  }

  void warmUp(int atomicBatchSize) {
    model.warmUp(atomicBatchSize);
    examples.warmUp(atomicBatchSize);
  }

  /**
   * Our share's gradient, or after a round the change of the parameters, then the sum over replicas
   * once the caller has exchanged it. Of no meaning where one replica trains alone: a device may
   * have the gradient then.
   */
  float[] gradient() {
    return gradient;
  }

  /**
   * Our share's batch statistics, or after a round the running ones that we came to, then their sum
   * over replicas; may be empty.
   */
  float[] batchStatistics() {
    return batchStatistics;
  }

  /**
   * Our share's gradient at the coordinates of a {@link GradientProbe}, in a round that of the
   * first step, then its sum over replicas; empty where the gradient itself is exchanged.
   */
  float[] probe() {
    return probed;
  }

  /**
   * After a round, the optimizer's vectors that we came to, then their sums over replicas; else
   * none.
   *
   * @param replicas of the ring
   */
  List<float[]> slots(int replicas) {
    Rounds local = rounds(replicas);
    return local == null ? List.of() : local.slots();
  }

  /** Makes the model's initial parameters the state at step 0. */
  void startFresh() {
    hasState = true;
  }

  /**
   * Makes the trained parameters of another job the state at step 0.
   *
   * @param trained as many as the model has
   */
  void startWith(TrainedParameters trained) {
    System.arraycopy(trained.parameters(), 0, model.parameters(), 0, parameters());
    System.arraycopy(trained.statistics(), 0, model.statistics(), 0, statistics());
    hasState = true;
  }

  /** Parameters of the model. */
  int parameters() {
    return gradient.length;
  }

  /** Running statistics of the model. */
  int statistics() {
    return model.statistics().length;
  }

  /** Takes over a state. */
  void restore(TrainingState from) throws IOException {
    TrainingState state = state();
    Optional<String> difference = TrainingState.difference(from.forms(), state.forms());
    if (difference.isPresent()) {
      throw new IOException(
          "the state cannot be used, as %s: it belongs to another version of the program"
              .formatted(difference.get()));
    }
    // The vectors are ours; what is a number of ours has to be read out of its section.
    state.copyFrom(from);
    update.restored();
    step = state.step();
    scaleInvariantSteps = state.section(TrainingState.SCALE_INVARIANT_STEPS).doubles()[0];
    examples.restore(state);
    noise.restore(state.section(TrainingState.NOISE).doubles());
    hasState = true;
  }

  /** The state, to be read before the next step. */
  TrainingState state() {
    List<Section> sections = new ArrayList<>();
    sections.add(Section.of(TrainingState.STEP, step));
    sections.add(Section.of(TrainingState.SCALE_INVARIANT_STEPS, scaleInvariantSteps));
    sections.addAll(examples.sections());
    sections.add(Section.of(TrainingState.PARAMETERS, model.readParameters()));
    sections.addAll(update.sections());
    sections.add(Section.of(TrainingState.STATISTICS, model.statistics()));
    sections.add(Section.of(TrainingState.NOISE, noise.state()));
    sections.addAll(examples.selection());
    sections.addAll(learningRate.tuning());
    if (rounds != null) {
      sections.addAll(rounds.sections());
    }
    return new TrainingState(sections);
  }

  /**
   * Chooses the examples of the next step or round, before each {@link #compute}: see {@link
   * ExampleStream#select}.
   */
  void select(BatchPlan plan, int replicas, int rank, Looks.Gather gather) throws IOException {
    examples.select(plan, steps(plan, replicas), replicas, rank, gather);
  }

  /** Hears how far {@link #compute} is, from the thread that computes. */
  @FunctionalInterface
  interface Listener {
    /**
     * From this element on, {@link #gradient} is our share, to which others may add theirs; told
     * again and again, down to 0.
     */
    void ready(int from);

    /** So many steps are taken, of which the last ones are those of a round in progress. */
    default void stepped(long steps) {}
  }

  /** Rounds of so many replicas; null where there are none. */
  private @Nullable Rounds rounds(int replicas) {
    return isLocal(replicas) ? rounds : null;
  }

  /** Whether so many train rounds of local steps: one alone has nobody to take a mean with. */
  boolean isLocal(int replicas) {
    return rounds != null && replicas > 1;
  }

  /** Steps that the next {@link #apply} applies, which follow from the state. */
  int steps(BatchPlan plan, int replicas) {
    Rounds local = rounds(replicas);
    double left = (totalSteps - scaleInvariantSteps) / noise.gain(plan.globalBatchSize(replicas));
    return local == null ? 1 : local.steps(left);
  }

  private double rate(int globalBatch) {
    return learningRate.of(noise.batchScale(globalBatch), noise.stats());
  }

  /**
   * Runs our passes of the next step or round.
   *
   * @return what they gave beside {@link #gradient}, {@link #batchStatistics}, {@link #probe} and
   *     {@link #slots}
   */
  LocalStep compute(BatchPlan plan, int replicas, int rank, Listener listener) {
    Rounds local = rounds(replicas);
    int steps = steps(plan, replicas);
    probe =
        local != null || settings.isCoded(replicas)
            ? GradientProbe.of(gradient.length, settings.seed(), step, steps)
            : null;
    probed = new float[probe == null ? 0 : probe.size()];
    long start = System.nanoTime();
    Passes.Place place = new Passes.Place(plan, replicas, rank, 0);
    onDevice = update.onDevice(replicas);
    Passes.Ran ran;
    if (local != null) {
      double rate = rate(plan.globalBatchSize(replicas));
      ran = local.run(place, steps, rate, step, probe, probed, listener);
    } else if (onDevice != null) {
      ran = passes.runOnDevice(place, onDevice);
      listener.ready(0);
    } else {
      ran = passes.run(place, probe, probed, listener::ready);
    }
    double seconds = (System.nanoTime() - start) * 1e-9 + examples.lookSeconds();
    return new LocalStep(
        ran.loss(),
        ran.squaredNorms(),
        examples.judged(ran.trained()),
        ran.trained(),
        seconds / (steps * (plan.accumulationSteps() + 1)),
        ran.finite());
  }

  /**
   * Begins a step whose passes others run: the mean gradient of their shares is where the model's
   * device training has it, and {@link #batchStatistics} receives the sum of theirs.
   */
  void begin() {
    onDevice = update.onDevice(1);
    probe = null;
    probed = new float[0];
  }

  /**
   * Applies a step or round whose vectors are summed over all replicas; the same bits come out
   * everywhere.
   *
   * @param all what each replica's passes gave, in rank order
   * @return the mean loss
   * @throws DivergedException if a sum is not finite; nothing is applied then, and the step can be
   *     computed again
   */
  double apply(List<LocalStep> all, BatchPlan plan) throws DivergedException {
    int replicas = all.size();
    if (replicas > 1) {
      Vectors.scale(gradient, 1f / replicas);
      Vectors.scale(batchStatistics, 1f / replicas);
      Vectors.scale(probed, 1f / replicas);
    }
    double loss = 0;
    double squaredNorms = 0;
    for (LocalStep each : all) {
      loss += each.loss();
      squaredNorms += each.squaredNorms();
    }
    loss /= replicas;
    DeviceTraining device = onDevice;
    double squaredNorm = device == null ? Vectors.squaredNorm(gradient) : device.squaredNorm();
    boolean finite = Double.isFinite(squaredNorm) && Vectors.isFinite(batchStatistics);
    Rounds local = rounds(replicas);
    if (!finite || (local != null && !local.areSlotsFinite())) {
      throw diverged(local);
    }
    int globalBatch = plan.globalBatchSize(replicas);
    int groups = replicas * (plan.accumulationSteps() + 1);
    double observed = probe == null ? squaredNorm : probe.squaredNorm(probed);
    int steps = steps(plan, replicas);
    double rate;
    if (local != null) {
      // That of its steps, which were taken before the noise of the round was known.
      rate = rate(globalBatch);
      noise.observe(_ -> {}, groups, squaredNorms, observed, globalBatch);
      local.apply(replicas);
    } else {
      // The noise is that of the gradient before all stages, and of a step that is applied.
      Consumer<NoiseScaleEstimator> single = known -> known.observeSingle(gradient, globalBatch);
      if (device != null) {
        single = known -> known.observeSingle(device.gradients(), globalBatch);
      } else if (update.hasGradientStages()) {
        float[] raw = groups == 1 ? gradient.clone() : gradient;
        single = known -> known.observeSingle(raw, globalBatch);
        update.change(gradient, new GradientStage.StepView(step, globalBatch, loss));
      }
      noise.observe(single, groups, squaredNorms, observed, globalBatch);
      rate = rate(globalBatch);
      update.apply(device == null ? gradient : null, batchStatistics, rate, step);
    }
    step += steps;
    scaleInvariantSteps += steps * noise.gain(globalBatch);
    long taken = (long) steps * globalBatch;
    examples.applied(all, taken);
    learningRate.applied(
        progress(), Math.toIntExact(taken), steps * noise.batchScale(globalBatch), loss, rate);
    if (rounds != null) {
      rounds.applied(new SyncPolicy.AppliedRound(progress(), steps, taken, loss, rate));
    }
    return loss;
  }

  private DivergedException diverged(@Nullable Rounds local) {
    return Optional.ofNullable(local)
        .flatMap(Rounds::diverged)
        .orElseGet(() ->
            new DivergedException(
                "training diverged at step %d: the gradient is not finite. Lower learningRate.base."
                    .formatted(step)));
  }
}
