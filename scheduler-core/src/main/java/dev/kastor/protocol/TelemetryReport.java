package dev.kastor.protocol;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the replicas of one job measured since their last report: {@code POST
 * /v1/jobs/{namespace}/{name}/telemetry}, at most 64 KiB of JSON, sent by rank 0.
 *
 * @param namespace namespace of the job; must match the path
 * @param job name of the job; must match the path
 * @param pod the sender
 * @param generation membership generation of the sender
 * @param sequence grows by one with every report of this sender
 * @param replicas replicas of the current generation
 * @param batch batch plan in force
 * @param profiles step times by placement and batch since the last report
 * @param gradient noise statistics; absent until the estimator has seen enough
 * @param progress how far the job is
 * @param trainingLoss mean loss since the last report; absent before the first step
 * @param learningRate in force at the last step
 * @param checkpoint newest durable checkpoint; absent before the first
 * @param switches changes lived since the last report
 * @param outcome set in the last report only
 * @param slowest who computed slowest since the last report; absent where nobody can be compared
 * @param scalars means of what the script logged since the last report, by name, see {@link
 *     Scalars}; absent where it logged nothing but a loss
 * @param unsaved why the last attempt to save a checkpoint failed, at most {@link #MAX_TEXT}
 *     characters; absent where it did not
 * @param staleness of asynchronous updates; absent where steps are synchronous
 * @param droppedCopies shares of steps that came after another worker's copy of the same share,
 *     since the start of the process; absent where no parameter server tells
 */
public record TelemetryReport(
    String namespace,
    String job,
    String pod,
    long generation,
    long sequence,
    int replicas,
    BatchPlan batch,
    List<StepProfile> profiles,
    @Nullable GradientStats gradient,
    Progress progress,
    @Nullable Double trainingLoss,
    @Nullable Double learningRate,
    @Nullable CheckpointInfo checkpoint,
    List<Switch> switches,
    @Nullable Outcome outcome,
    @Nullable Slowest slowest,
    @Nullable Map<String, Double> scalars,
    @Nullable String unsaved,
    @Nullable Staleness staleness,
    @Nullable Long droppedCopies) {
  /** Largest accepted body in bytes. */
  public static final int MAX_BYTES = 64 * 1024;

  /** Most replicas of a job that a report may speak of. */
  public static final int MAX_REPLICAS = 100_000;

  /** Most profiles, and most switches, in one report. */
  public static final int MAX_ENTRIES = 100;

  /** Most characters of a text in a report. */
  public static final int MAX_TEXT = 1_000;

  /** A report that compares no members, has no scalars and of no checkpoint that failed. */
  public TelemetryReport(
      String namespace,
      String job,
      String pod,
      long generation,
      long sequence,
      int replicas,
      BatchPlan batch,
      List<StepProfile> profiles,
      @Nullable GradientStats gradient,
      Progress progress,
      @Nullable Double trainingLoss,
      @Nullable Double learningRate,
      @Nullable CheckpointInfo checkpoint,
      List<Switch> switches,
      @Nullable Outcome outcome) {
    this(
        namespace,
        job,
        pod,
        generation,
        sequence,
        replicas,
        batch,
        profiles,
        gradient,
        progress,
        trainingLoss,
        learningRate,
        checkpoint,
        switches,
        outcome,
        null,
        null,
        null,
        null,
        null);
  }

  /** The same for an operator of an older protocol, which refuses fields that it does not know. */
  public TelemetryReport asOf(int protocol) {
    return protocol >= 2
        ? this
        : new TelemetryReport(
            namespace,
            job,
            pod,
            generation,
            sequence,
            replicas,
            batch,
            profiles,
            gradient,
            progress,
            trainingLoss,
            learningRate,
            checkpoint,
            switches,
            outcome == null ? null : outcome.asOf(protocol),
            slowest,
            null,
            null,
            null,
            null);
  }

  public TelemetryReport {
    Check.atLeast("generation", generation, 0);
    Check.atLeast("sequence", sequence, 0);
    Check.between("replicas", replicas, 0, MAX_REPLICAS);
    Check.between(
        "replicas * batch", (long) replicas * batch.globalBatchSize(1), 0, Integer.MAX_VALUE);
    Check.atLeast("profiles: free entries", MAX_ENTRIES - profiles.size(), 0);
    Check.atLeast("switches: free entries", MAX_ENTRIES - switches.size(), 0);
    if (trainingLoss != null) {
      Check.finite("trainingLoss", trainingLoss);
    }
    if (learningRate != null) {
      Check.nonNegative("learningRate", learningRate);
    }
    scalars = scalars == null || scalars.isEmpty() ? null : Scalars.checked(scalars);
    if (unsaved != null) {
      Check.between("unsaved: characters", unsaved.length(), 0, MAX_TEXT);
    }
    if (droppedCopies != null) {
      Check.between("droppedCopies", droppedCopies, 0, Check.MOST_COUNTED);
    }
    profiles = List.copyOf(profiles);
    switches = List.copyOf(switches);
  }

  /** The same report with other changes. */
  public TelemetryReport withSwitches(List<Switch> others) {
    return with(profiles, others);
  }

  /** The same report with other step times. */
  public TelemetryReport withProfiles(List<StepProfile> others) {
    return with(others, switches);
  }

  private TelemetryReport with(List<StepProfile> otherProfiles, List<Switch> others) {
    return new TelemetryReport(
        namespace,
        job,
        pod,
        generation,
        sequence,
        replicas,
        batch,
        otherProfiles,
        gradient,
        progress,
        trainingLoss,
        learningRate,
        checkpoint,
        others,
        outcome,
        slowest,
        scalars,
        unsaved,
        staleness,
        droppedCopies);
  }

  /** What the script logged since the last report, by name; empty where it logged nothing. */
  public Map<String, Double> scalarsOrNone() {
    return scalars == null ? Map.of() : scalars;
  }
}
