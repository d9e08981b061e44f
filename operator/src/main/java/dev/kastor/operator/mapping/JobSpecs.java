package dev.kastor.operator.mapping;

import dev.kastor.crds.trainingjob.BatchSizeSpec;
import dev.kastor.crds.trainingjob.ElasticSpec;
import dev.kastor.crds.trainingjob.GoodputSpec;
import dev.kastor.crds.trainingjob.Pin;
import dev.kastor.crds.trainingjob.ProgramSpec;
import dev.kastor.crds.trainingjob.SpecDefaults;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobSpec;
import dev.kastor.crds.trainingjob.WorkSpec;
import dev.kastor.operator.kube.Labels;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.model.AllowedReplicas;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.training.ServerChoice;
import dev.kastor.training.TrainingChoices;
import java.time.Instant;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Translation of a TrainingJob's spec into the scheduler's. */
public final class JobSpecs {
  /** What Kubernetes allows for the value of a label. */
  private static final int LONGEST_NAME = 63;

  /**
   * Examples of what counts as one step of a gang whose size changes. Its script has a batch of its
   * own; for the scheduler the gang is a job of one global batch, that so many pods can share.
   */
  private static final int GANG_BATCH = 4096;

  private static final String GANG_NAME = "[a-z]([-a-z0-9]{0,56}[a-z0-9])?";

  private JobSpecs() {}

  /**
   * The scheduler's view of the job.
   *
   * @throws IllegalArgumentException if the spec contradicts itself, which the CRD's rules prevent,
   *     its name is too long, or its features of training have no valid form
   */
  public static JobSpec of(TrainingJob job) {
    String name = job.getMetadata().getName();
    if (name.length() > LONGEST_NAME) {
      throw new IllegalArgumentException(
          "the job's name may have at most %d characters but has %d: it becomes a label of its pods. Submit it under a shorter name."
              .formatted(LONGEST_NAME, name.length()));
    }
    if (job.getSpec().gang() && !name.matches(GANG_NAME)) {
      throw new IllegalArgumentException(
          "metadata.name: %s: the name of a gang becomes that of a Service and of hosts, so it has at most 58 lower-case letters, digits and hyphens and begins with a letter. Submit it under such a name."
              .formatted(name));
    }
    TrainingJobSpec spec = SpecDefaults.complete(job.getSpec());
    long characters = spec.program() == null ? 0 : spec.program().characters();
    if (characters > ProgramSpec.MOST_CHARACTERS) {
      throw new IllegalArgumentException(
          "program.parameters have %d characters together, names and values, but may have %d. Shorten them, or put what is long into a file."
              .formatted(characters, ProgramSpec.MOST_CHARACTERS));
    }
    TrainingChoices.parse(spec.training());
    var _ = ServerChoice.of(spec.training());
    JobSpec unqueued =
        new JobSpec(
            Labels.id(job),
            Instant.parse(job.getMetadata().getCreationTimestamp()),
            elasticity(spec, Pin.of(job)),
            limits(spec),
            "");
    int slots = spec.slotsPerReplica();
    if (slots < 1 || slots > ElasticSpec.MOST_SLOTS) {
      throw new IllegalArgumentException(
          "a replica takes %d slots but may take 1 to %d. Lower spec.elastic.slotsPerReplica, or what the containers of spec.template ask for."
              .formatted(slots, ElasticSpec.MOST_SLOTS));
    }
    if (spec.goodput() != null || spec.restartsToRescale()) {
      check(unqueued.elasticity(), unqueued.batchLimits());
    }
    String queue = spec.queue();
    Integer priority = spec.priority();
    return unqueued
        .declaring(declaredSteps(spec.goodput(), unqueued.batchLimits().initialGlobalBatch()))
        .withSlotsPerReplica(slots)
        .queued(queue == null ? "" : queue, priority == null ? 0 : priority);
  }

  /**
   * Scale-invariant steps of the work that a job declares; 0 where only its program knows how much
   * that is, or nobody.
   */
  private static double declaredSteps(@Nullable GoodputSpec goodput, int initialBatch) {
    WorkSpec work = goodput == null ? null : goodput.work();
    if (work == null || work.epochs() != null) {
      return 0;
    }
    Long steps = work.steps();
    Long examples = work.examples();
    return steps != null ? steps : examples == null ? 0 : (double) examples / initialBatch;
  }

  /** What the CRD's rules say as well: a policy must not see a job of no possible size. */
  private static void check(Elasticity sizes, BatchLimits batch) {
    if (IntStream.rangeClosed(sizes.min(), sizes.max()).noneMatch(sizes::allows)) {
      throw new IllegalArgumentException(
          "no number of replicas from elastic.minReplicas (%d) to elastic.maxReplicas (%d) is one of elastic.allowedReplicas. Widen the range."
              .formatted(sizes.min(), sizes.max()));
    }
    long most = sizes.min() * (long) batch.maxAtomicBatch();
    if (!batch.accumulation() && batch.initialGlobalBatch() > most) {
      throw new IllegalArgumentException(
          "batchSize.initial (%d) does not fit minReplicas (%d) times perDevice.max (%d). Allow gradientAccumulation or raise one of them."
              .formatted(batch.initialGlobalBatch(), sizes.min(), batch.maxAtomicBatch()));
    }
  }

  /** Why what a job's annotation asks cannot be done; empty if it can. */
  public static Optional<String> pinProblem(TrainingJob job) {
    Pin pin = Pin.of(job);
    return pin instanceof Pin.Free
        ? Optional.empty()
        : pinProblem(SpecDefaults.complete(job.getSpec()), pin);
  }

  @SuppressWarnings("NullAway") // As below.
  private static Optional<String> pinProblem(TrainingJobSpec spec, Pin pin) {
    ElasticSpec elastic = spec.elastic();
    return switch (pin) {
      case Pin.Free free -> Optional.empty();
      case Pin.Here here -> Optional.empty();
      case Pin.Unreadable unreadable ->
          Optional.of(
              "Annotation %s is '%s' but must be here or a number of replicas, so it is ignored."
                  .formatted(Pin.ANNOTATION, unreadable.value()));
      case Pin.At at ->
          at.replicas() >= elastic.minReplicas()
                  && at.replicas() <= elastic.maxReplicas()
                  && allowed(elastic.allowedReplicas()).contains(at.replicas())
              ? Optional.empty()
              : Optional.of(
                  "Annotation %s asks for %d replicas, but spec.elastic allows %d to %d (%s), so it is ignored."
                      .formatted(
                          Pin.ANNOTATION,
                          at.replicas(),
                          elastic.minReplicas(),
                          elastic.maxReplicas(),
                          elastic.allowedReplicas()));
    };
  }

  private static AllowedReplicas allowed(ElasticSpec.AllowedReplicasKind kind) {
    return switch (kind) {
      case Any -> new AllowedReplicas.Any();
      case PowersOfTwo -> new AllowedReplicas.PowersOfTwo();
    };
  }

  @SuppressWarnings("NullAway") // Completed specs have every field; the records say Nullable.
  private static Elasticity elasticity(TrainingJobSpec spec, Pin pin) {
    ElasticSpec elastic = spec.elastic();
    int min = elastic.minReplicas();
    int max = elastic.maxReplicas();
    if (pin instanceof Pin.At at && pinProblem(spec, pin).isEmpty()) {
      min = at.replicas();
      max = at.replicas();
    }
    AllowedReplicas allowed = allowed(elastic.allowedReplicas());
    if (spec.gang()) {
      return spec.restartsToRescale()
          ? new Elasticity.Restarting(min, max, allowed)
          : new Elasticity.Rigid(min);
    }
    return switch (spec.goodputOrThrow().mode()) {
      case Adaptive -> new Elasticity.Adaptive(min, max, allowed);
      case Fixed ->
          min == max ? new Elasticity.Rigid(min) : new Elasticity.Elastic(min, max, allowed);
    };
  }

  @SuppressWarnings("NullAway") // As above.
  private static BatchLimits limits(TrainingJobSpec spec) {
    if (spec.restartsToRescale()) {
      return new BatchLimits(GANG_BATCH, GANG_BATCH, 1, GANG_BATCH, false);
    }
    if (spec.gang()) {
      // Nobody knows its batch: one example for each replica is as good as any number.
      int replicas = spec.elastic().minReplicas();
      return new BatchLimits(replicas, replicas, 1, 1, false);
    }
    GoodputSpec goodput = spec.goodputOrThrow();
    BatchSizeSpec batch = goodput.batchSize();
    boolean fixed = goodput.mode() == GoodputSpec.Mode.Fixed;
    return new BatchLimits(
        batch.initial(),
        fixed ? batch.initial() : batch.max(),
        batch.perDevice().min(),
        batch.perDevice().max(),
        batch.gradientAccumulation());
  }
}
