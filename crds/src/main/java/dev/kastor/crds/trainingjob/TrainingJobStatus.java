package dev.kastor.crds.trainingjob;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.model.annotation.LabelSelector;
import io.fabric8.kubernetes.model.annotation.StatusReplicas;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the operator reports.
 *
 * <p>Writers: the scheduling loop owns {@code allocation}, the membership service {@code
 * generation}, {@code restarts}, {@code clients} and {@code starts}, the telemetry endpoint {@code
 * training}, {@code remaining} and {@code curves}, the reconciler all else. {@code usage} is made
 * by one ledger and written with {@code allocation} and {@code training}.
 */
public record TrainingJobStatus(
    @JsonPropertyDescription("Derived from the conditions, for people.") @Nullable Phase phase,
    @JsonPropertyDescription("Generation of the spec that this status answers.")
        @Nullable Long observedGeneration,
    @JsonPropertyDescription("Typed conditions with typed reasons.")
        @Nullable List<Condition> conditions,
    @JsonPropertyDescription("What the scheduler gave the job and why.")
        @Nullable AllocationStatus allocation,
    @JsonPropertyDescription("Newest membership generation; never goes back.")
        @Nullable Long generation,
    @JsonPropertyDescription("Selector of the job's pods, for the scale subresource.")
        @LabelSelector
        @Nullable String selector,
    @JsonPropertyDescription("Summary of the replicas' own reports, at most every few seconds.")
        @Nullable TrainingStatus training,
    @JsonPropertyDescription("Failed replicas since the job last made progress.")
        @Nullable Integer failuresSinceProgress,
    @JsonPropertyDescription("Times training stopped and came back from a checkpoint.")
        @Nullable Integer restarts,
    @JsonPropertyDescription("When the first replica trained.") @Nullable String startTime,
    @JsonPropertyDescription("When the job succeeded or failed.") @Nullable String completionTime,
    @JsonPropertyDescription("Seconds it was suspended since startTime, the present time left out.")
        @Nullable Long suspendedSeconds,
    @JsonPropertyDescription("Starts in a row that missed lifecycle.startDeadlineSeconds.")
        @Nullable Integer failedStarts,
    @JsonPropertyDescription("When it may get slots again after a start that failed.")
        @Nullable String notBefore,
    @JsonPropertyDescription("Number of the next pod; never goes back, so names are not reused.")
        @Nullable Long nextPod,
    @JsonPropertyDescription("Whether it was suspended for Kueue, which happens once.")
        @Nullable Boolean heldForKueue,
    @JsonPropertyDescription(
            "Names and versions of the software of its replicas, as of the newest generation.")
        @Nullable List<String> clients,
    @JsonPropertyDescription(
            "Points of its curves, written with training, for the operator that comes next.")
        @Nullable String curves,
    @JsonPropertyDescription(
            "Slot-milliseconds that it held by day and queue, and what became of them; written with"
                + " allocation and training.")
        @Nullable String usage,
    @JsonPropertyDescription("Newest starts of its replicas with the milliseconds of their parts.")
        @Nullable List<String> starts,
    @JsonPropertyDescription("Why it is in that phase, as one word.") @Nullable String reason,
    @JsonPropertyDescription("Time to the expected end when training was written, for people.")
        @Nullable String remaining) {

  /** Where a job is in its life. */
  public enum Phase {
    Queued,
    Starting,
    Running,
    Suspended,
    Succeeded,
    Failed
  }

  /** When the work will be done; null while the job does not train and where nobody can tell. */
  public @Nullable String expectedEnd() {
    return phase == Phase.Running && training != null ? training.eta() : null;
  }

  /** The scheduler's decision. */
  public record AllocationStatus(
      @JsonPropertyDescription("Replicas on all nodes together.") @StatusReplicas int replicas,
      @JsonPropertyDescription("Replicas by node.") Map<String, Integer> nodes,
      @JsonPropertyDescription(
              "Most replicas at any moment, old and new together; absent without a quota.")
          @Nullable Integer atMost,
      @JsonPropertyDescription("Grows with each decision.") long version,
      @JsonPropertyDescription("When it was decided.") String since,
      @JsonPropertyDescription("Why, as one word.") String reason,
      @JsonPropertyDescription("Why, as a sentence with numbers.") String message,
      @JsonPropertyDescription("Queue whose quota it counts against; absent without a queue.")
          @Nullable String queue,
      @JsonPropertyDescription("Replicas that the job held so far.") @Nullable HeldStatus held,
      @JsonPropertyDescription("Slots (GPUs) of each replica; absent for 1.")
          @Nullable Integer slotsPerReplica) {
    /** Replicas of one slot. */
    public AllocationStatus(
        int replicas,
        Map<String, Integer> nodes,
        @Nullable Integer atMost,
        long version,
        String since,
        String reason,
        String message,
        @Nullable String queue,
        @Nullable HeldStatus held) {
      this(replicas, nodes, atMost, version, since, reason, message, queue, held, null);
    }

    /** Slots on all nodes together. */
    public int slots() {
      return Math.clamp(
          (long) replicas * Math.max(1, slotsPerReplica == null ? 1 : slotsPerReplica),
          0,
          Integer.MAX_VALUE);
    }
  }

  /** Replicas that a job held up to an allocation. */
  public record HeldStatus(
      @JsonPropertyDescription("Times that it was given replicas, this one included.") int starts,
      @JsonPropertyDescription("Since when it has held replicas without a break.")
          @Nullable String since,
      @JsonPropertyDescription(
              "GPU-seconds held before this allocation; none while it waited or was suspended.")
          double gpuSeconds) {}

  /** What the replicas report, summed up. */
  public record TrainingStatus(
      @JsonPropertyDescription("Optimizer steps applied.") long step,
      @JsonPropertyDescription("Steps in units of the initial batch, scaled by 1000.")
          long scaleInvariantMillisteps,
      @JsonPropertyDescription("Done share of the declared work in percent.") int percent,
      @JsonPropertyDescription("Examples trained.") long examples,
      @JsonPropertyDescription("Passes over the data.") long epoch,
      @JsonPropertyDescription("Expected end.") @Nullable String eta,
      @JsonPropertyDescription("Global batch in examples.") int globalBatch,
      @JsonPropertyDescription("Batch per replica and pass.") int atomicBatch,
      @JsonPropertyDescription("Extra passes before an update.") int accumulationSteps,
      @JsonPropertyDescription("Goodput in effective examples per second.")
          @Nullable Double goodput,
      @JsonPropertyDescription("Throughput in examples per second.") @Nullable Double throughput,
      @JsonPropertyDescription("Statistical efficiency in (0, 1].") @Nullable Double efficiency,
      @JsonPropertyDescription("Gradient noise scale in examples.") @Nullable Double noiseScale,
      @JsonPropertyDescription("Predicted goodput by replica count, on the present GPU type.")
          @Nullable Map<String, Double> predictedGoodput,
      @JsonPropertyDescription("GPU type that it trains on; absent where nodes have no types.")
          @Nullable String gpuType,
      @JsonPropertyDescription(
              "Predicted goodput of the present number of replicas by GPU type that is known.")
          @Nullable Map<String, Double> goodputByGpuType,
      @JsonPropertyDescription("Mean training loss of the last report.") @Nullable Double loss,
      @JsonPropertyDescription("Step of the newest checkpoint.") @Nullable Long checkpointStep,
      @JsonPropertyDescription("When it was saved.") @Nullable String checkpointTime,
      @JsonPropertyDescription("Live changes of size or batch so far.") int rescales,
      @JsonPropertyDescription("Of those, changes to more replicas.") int grows,
      @JsonPropertyDescription("Of those, changes to fewer replicas.") int shrinks,
      @JsonPropertyDescription("Median pause of a live change in milliseconds.")
          @Nullable Long medianPauseMillis,
      @JsonPropertyDescription("Longest pause of a live change in milliseconds.")
          @Nullable Long maxPauseMillis,
      @JsonPropertyDescription("Median time from an allocation to training in milliseconds.")
          @Nullable Long medianStartMillis,
      @JsonPropertyDescription("Fewest replicas it trained with.") int minReplicas,
      @JsonPropertyDescription("Most replicas it trained with.") int maxReplicas,
      @JsonPropertyDescription("Smallest global batch it trained with.") int minGlobalBatch,
      @JsonPropertyDescription("Largest global batch it trained with.") int maxGlobalBatch,
      @JsonPropertyDescription("Name of the held-out metric.") @Nullable String metricName,
      @JsonPropertyDescription("Held-out metric at the end.") @Nullable Double finalMetric,
      @JsonPropertyDescription("Examples the audit found missing or trained twice.")
          @Nullable Long lostOrRepeatedExamples,
      @JsonPropertyDescription(
              "Largest batch per replica and pass that fits, by GPU type (empty where nodes have"
                  + " no types); absent where no replica met a limit of memory.")
          @Nullable Map<String, Integer> mostExamples) {}
}
