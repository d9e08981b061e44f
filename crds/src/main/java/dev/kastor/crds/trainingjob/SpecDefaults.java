package dev.kastor.crds.trainingjob;

import dev.kastor.crds.trainingjob.ElasticSpec.AllowedReplicasKind;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Fills absent fields of a spec with the defaults that the CRD declares.
 *
 * <p>An API server does the same on admission, so this changes nothing that came from one; it makes
 * specs from files and tests complete and gives readers one place without null checks.
 */
public final class SpecDefaults {
  /** The bound that the CRD sets on every batch size. */
  private static final int LARGEST_BATCH = 16_777_216;

  /** The largest global batch is this many times the initial one unless it is given. */
  private static final int DEFAULT_GROWTH = 16;

  private SpecDefaults() {}

  /** The spec with every default filled in, {@code batchSize.max} included. */
  public static TrainingJobSpec complete(TrainingJobSpec spec) {
    return new TrainingJobSpec(
        or(spec.suspend(), false),
        spec.queue(),
        or(spec.priority(), 0),
        spec.family(),
        elastic(spec.elastic()),
        spec.goodput() == null ? null : goodput(spec.goodput()),
        checkpoint(spec.checkpoint()),
        faultTolerance(spec.faultTolerance()),
        spec.program() == null ? null : program(spec.program()),
        spec.template(),
        spec.profile(),
        lifecycle(or(spec.lifecycle(), LifecycleSpec.UNBOUNDED)),
        or(spec.managedBy(), TrainingJobSpec.OPERATOR),
        spec.training());
  }

  private static ProgramSpec program(ProgramSpec given) {
    return new ProgramSpec(given.name(), Map.copyOf(or(given.parameters(), Map.of())));
  }

  private static LifecycleSpec lifecycle(LifecycleSpec given) {
    return new LifecycleSpec(
        given.activeDeadlineSeconds(),
        given.queueDeadlineSeconds(),
        or(given.startDeadlineSeconds(), 1800L),
        or(given.startAttempts(), 3),
        given.ttlSecondsAfterFinished());
  }

  private static ElasticSpec elastic(@Nullable ElasticSpec elastic) {
    ElasticSpec given = elastic == null ? new ElasticSpec(null, null, null) : elastic;
    return new ElasticSpec(
        or(given.minReplicas(), 1),
        or(given.maxReplicas(), 1),
        or(given.allowedReplicas(), AllowedReplicasKind.Any),
        // Left out it is what the template says.
        given.slotsPerReplica(),
        or(given.rescale(), ElasticSpec.Rescale.Live));
  }

  private static GoodputSpec goodput(GoodputSpec given) {
    LearningRateSpec rate = given.learningRate();
    return new GoodputSpec(
        or(given.mode(), GoodputSpec.Mode.Adaptive),
        batchSize(given.batchSize()),
        rate == null
            ? null
            : new LearningRateSpec(
                rate.base(), or(rate.scaling(), LearningRateSpec.Scaling.AdaScale)),
        given.work());
  }

  private static BatchSizeSpec batchSize(BatchSizeSpec given) {
    var device = or(given.perDevice(), new BatchSizeSpec.PerDevice(null, null));
    int growth = (int) Math.min(LARGEST_BATCH, (long) DEFAULT_GROWTH * given.initial());
    return new BatchSizeSpec(
        given.initial(),
        or(given.max(), growth),
        new BatchSizeSpec.PerDevice(or(device.min(), 1), or(device.max(), 256)),
        or(given.gradientAccumulation(), true));
  }

  private static CheckpointSpec checkpoint(@Nullable CheckpointSpec checkpoint) {
    CheckpointSpec given = checkpoint == null ? new CheckpointSpec(null, null) : checkpoint;
    return new CheckpointSpec(
        or(given.intervalSeconds(), 10), or(given.keepLast(), 3), given.warmStart());
  }

  private static FaultToleranceSpec faultTolerance(@Nullable FaultToleranceSpec tolerance) {
    FaultToleranceSpec given =
        tolerance == null ? new FaultToleranceSpec(null, null, null) : tolerance;
    return new FaultToleranceSpec(
        or(given.maxRestarts(), 10),
        or(given.backoffSeconds(), 1),
        or(given.maxBackoffSeconds(), 60));
  }

  private static <T> T or(@Nullable T value, T otherwise) {
    return value == null ? otherwise : value;
  }
}
