package dev.kastor.agent.trainer;

import dev.kastor.engine.checkpoint.TrainedParameters;
import dev.kastor.engine.train.AuditDigest;
import dev.kastor.engine.train.ElasticSampler;
import dev.kastor.engine.train.GradientProbe;
import dev.kastor.engine.train.GradientStage;
import dev.kastor.engine.train.NoiseScaleEstimator;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.Section;
import dev.kastor.engine.train.Trainable;
import dev.kastor.engine.train.TrainingState;
import dev.kastor.engine.train.Update;
import dev.kastor.engine.train.UpdateStage;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Progress;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The model of this process with all that training changes in it.
 *
 * <p>A step is {@link #select}, {@link #compute}, an exchange of the vectors {@link #gradient},
 * {@link #batchStatistics} and {@link #probe} by whoever calls, and {@link #apply}. Only {@code
 * apply} changes the state, so a step whose exchange failed can be computed again. One thread owns
 * it.
 */
final class Replica {
  private final Trainable model;
  private final Optimizer optimizer;
  private final TrainingSettings settings;
  private final ExampleStream examples;
  private final LearningRate learningRate;
  private final NoiseScaleEstimator noise;
  private final SequencedMap<String, float[]> slots;
  private final List<UpdateStage> updateStages;
  private final float[] gradient;
  private final float[] batchStatistics;
  private final float[] passGradient;
  private final float[] passStatistics;
  private final double totalSteps;

  /** Of the step in progress; null where the exchanged gradient is the true one. */
  private @Nullable GradientProbe probe;

  private float[] probed = {};
  private boolean hasState;
  private long step;
  private double scaleInvariantSteps;

  Replica(Trainable model, Optimizer optimizer, TrainingSettings settings) {
    this.model = model;
    this.optimizer = optimizer;
    this.settings = settings;
    this.examples = new ExampleStream(model, settings);
    this.learningRate = new LearningRate(settings);
    this.noise =
        new NoiseScaleEstimator(settings.initialBatch(), NoiseScaleEstimator.DEFAULT_SMOOTHING);
    int parameters = model.parameters().length;
    int statistics = model.statistics().length;
    if (model.layout().elements() != parameters) {
      throw new IllegalArgumentException(
          "the model has %d parameters and its layout %d"
              .formatted(parameters, model.layout().elements()));
    }
    this.slots = optimizer.newSlots(model.layout());
    this.updateStages = settings.method().updates(model.layout());
    this.gradient = new float[parameters];
    this.passGradient = new float[parameters];
    this.batchStatistics = new float[statistics];
    this.passStatistics = new float[statistics];
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

  /** Our share's gradient, then the sum over replicas once the caller has exchanged it. */
  float[] gradient() {
    return gradient;
  }

  /** Our share's batch statistics, then their sum over replicas; may be empty. */
  float[] batchStatistics() {
    return batchStatistics;
  }

  /**
   * Our share's gradient at the coordinates of a {@link GradientProbe}, then its sum over replicas;
   * empty where the gradient itself is exchanged.
   */
  float[] probe() {
    return probed;
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
    return model.parameters().length;
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
    step = state.step();
    scaleInvariantSteps = state.section(TrainingState.SCALE_INVARIANT_STEPS).doubles()[0];
    examples.restore(state);
    noise.restore(state.section(TrainingState.NOISE).doubles());
    hasState = true;
  }

  /** The state; its vectors are live. */
  TrainingState state() {
    List<Section> sections = new ArrayList<>();
    sections.add(Section.of(TrainingState.STEP, step));
    sections.add(Section.of(TrainingState.SCALE_INVARIANT_STEPS, scaleInvariantSteps));
    sections.addAll(examples.sections());
    sections.add(Section.of(TrainingState.PARAMETERS, model.parameters()));
    slots.forEach(
        (name, values) -> sections.add(Section.of(TrainingState.slot(optimizer, name), values)));
    sections.add(Section.of(TrainingState.STATISTICS, model.statistics()));
    sections.add(Section.of(TrainingState.NOISE, noise.state()));
    sections.addAll(examples.selection());
    sections.addAll(learningRate.tuning());
    return new TrainingState(sections);
  }

  /** See {@link ExampleStream#select}: before each {@link #compute}. */
  void select(BatchPlan plan, int replicas, int rank, Looks.Gather gather) throws IOException {
    examples.select(plan, replicas, rank, gather);
  }

  /**
   * Runs our passes of the next step.
   *
   * @param ready told from which element on {@link #gradient} is our share, during the last pass,
   *     again and again, down to 0; others may add theirs from then on
   * @return what they gave beside {@link #gradient} and {@link #batchStatistics}
   */
  LocalStep compute(BatchPlan plan, int replicas, int rank, IntConsumer ready) {
    int passes = plan.accumulationSteps() + 1;
    double loss = 0;
    AuditDigest trained = AuditDigest.EMPTY;
    probe =
        settings.isCoded(replicas)
            ? GradientProbe.of(gradient.length, settings.seed(), step)
            : null;
    probed = new float[probe == null ? 0 : probe.size()];
    Sums sums = new Sums(passes, ready);
    long start = System.nanoTime();
    for (int pass = 0; pass < passes; pass++) {
      ElasticSampler.Take take = examples.take(plan, replicas, rank, pass);
      boolean first = pass == 0;
      float[] target = first ? gradient : passGradient;
      float[] statistics = first ? batchStatistics : passStatistics;
      loss += model.pass(take.examples(), target, statistics, sums.pass(pass));
      sums.requireWhole();
      trained = trained.plus(AuditDigest.of(take));
      if (!first) {
        Vectors.add(passStatistics, batchStatistics, 0, batchStatistics.length);
      }
    }
    if (passes > 1) {
      Vectors.scale(batchStatistics, 1f / passes);
    }
    double seconds = (System.nanoTime() - start) * 1e-9 + examples.lookSeconds();
    boolean finite =
        Double.isFinite(sums.squaredNorms) && Double.isFinite(Vectors.squaredNorm(batchStatistics));
    double squaredNorms = probe == null ? sums.squaredNorms : sums.probedNorms;
    return new LocalStep(
        loss / passes, squaredNorms, examples.judged(trained), trained, seconds / passes, finite);
  }

  /** What becomes of the gradients of a step's passes, piece by piece. */
  private final class Sums {
    private final int passes;
    private final IntConsumer ready;
    private double squaredNorms;
    private double probedNorms;
    private int end;

    Sums(int passes, IntConsumer ready) {
      this.passes = passes;
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

  /**
   * Applies a step whose vectors are summed over all replicas; the same bits come out everywhere.
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
    double squaredNorm = Vectors.squaredNorm(gradient);
    if (!Double.isFinite(squaredNorm) || !Double.isFinite(Vectors.squaredNorm(batchStatistics))) {
      throw new DivergedException(
          "training diverged at step %d: the gradient is not finite. Lower learningRate.base."
              .formatted(step));
    }
    int globalBatch = plan.globalBatchSize(replicas);
    int groups = replicas * (plan.accumulationSteps() + 1);
    // The noise is that of the gradient before all stages, and of a step that is applied.
    boolean kept = groups == 1 && !settings.method().gradients().isEmpty();
    float[] raw = kept ? gradient.clone() : gradient;
    change(new GradientStage.StepView(step, globalBatch, loss / replicas));
    double observed = probe == null ? squaredNorm : probe.squaredNorm(probed);
    observe(raw, groups, squaredNorms, observed, globalBatch);
    double batchScale = (double) globalBatch / settings.initialBatch();
    Optional<GradientStats> stats = noise.stats();
    double rate = learningRate.of(batchScale, stats);
    Update update = new Update(model.layout(), model.parameters(), gradient, slots, rate, step);
    optimizer.apply(update);
    updateStages.forEach(stage -> stage.change(update));
    model.applyStatistics(batchStatistics);
    step++;
    // Until the noise is known, a larger batch is taken to bring no more than the initial one.
    scaleInvariantSteps +=
        stats.map(known -> known.gain(globalBatch)).orElse(Math.min(1, batchScale));
    examples.applied(all, globalBatch);
    learningRate.applied(progress(), globalBatch, batchScale, loss / replicas, rate);
    return loss / replicas;
  }

  private void change(GradientStage.StepView view) throws DivergedException {
    for (GradientStage stage : settings.method().gradients()) {
      stage.change(gradient, view);
      if (!Double.isFinite(Vectors.squaredNorm(gradient))) {
        throw new DivergedException(
            "the gradient of step %d is not finite after the gradient stage %s"
                .formatted(view.step(), stage.getClass().getName()));
      }
    }
  }

  private void observe(
      float[] single, int groups, double squaredNorms, double squaredNorm, int globalBatch) {
    if (groups == 1) {
      noise.observeSingle(single, globalBatch);
    } else {
      noise.observe(groups, squaredNorms / groups, squaredNorm, globalBatch);
    }
  }
}
