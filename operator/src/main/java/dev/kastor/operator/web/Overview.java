package dev.kastor.operator.web;

import dev.kastor.crds.trainingjob.TrainingJobStatus;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The state of the cluster and of every job at one moment; {@code GET /api/v1/overview}.
 *
 * @param cluster slots and policy
 * @param jobs every TrainingJob: living ones by submission, then ended ones, the newest end first
 */
public record Overview(ClusterRow cluster, List<JobRow> jobs) {
  public Overview {
    jobs = List.copyOf(jobs);
  }

  /**
   * The cluster.
   *
   * @param policy name of the scheduling policy in force
   * @param slotsUsed slots that are allocated to jobs
   * @param slotsTotal slots of all nodes
   * @param nodes each node
   * @param advice how many nodes of each GPU type there should be; empty if nobody asked
   */
  public record ClusterRow(
      String policy, int slotsUsed, int slotsTotal, List<NodeRow> nodes, List<AdviceRow> advice) {}

  /**
   * How many nodes of a GPU type there should be.
   *
   * @param gpuType the type
   * @param nodes how many there are
   * @param advised how many there should be
   * @param utility what they were worth over what they cost
   * @param expectedUtility the same for the advised ones
   * @param reason why, as one word
   * @param message why, as a sentence
   * @param numbers what decided it
   */
  public record AdviceRow(
      String gpuType,
      int nodes,
      int advised,
      double utility,
      double expectedUtility,
      String reason,
      String message,
      Map<String, Double> numbers) {}

  /**
   * One node.
   *
   * @param slotsUsed slots that are allocated to jobs
   * @param slowdown how many times longer steps take on it than on others of its type, as reports
   *     tell; null where it is as fast
   */
  public record NodeRow(
      String name,
      @Nullable String gpuType,
      int slotsUsed,
      int slotsTotal,
      @Nullable Double slowdown) {}

  /**
   * One job; what is not known is null.
   *
   * @param namespace its namespace
   * @param name its name
   * @param program the training program
   * @param phase where it is in its life
   * @param submitted when it was created
   * @param started when the first replica trained
   * @param ended when it succeeded or failed
   * @param replicas replicas that it was given
   * @param trainingReplicas replicas that trained at the last report
   * @param minReplicas fewest it may have
   * @param maxReplicas most it may have
   * @param slotsPerReplica slots of each of them
   * @param nodes given replicas by node
   * @param reason why this size, as one word
   * @param message why this size, as a sentence
   * @param phaseReason what the operator says of the phase, as one word: why it waits, is
   *     suspended, or how it ended
   * @param note the same as a sentence
   * @param since when the size was decided
   * @param batch the batch in force
   * @param ran sizes and batches that it trained with so far
   * @param goodput effective examples per second
   * @param throughput examples per second
   * @param efficiency statistical efficiency in (0, 1]
   * @param noiseScale gradient noise scale in examples
   * @param loss mean training loss of the last report
   * @param percent done share of the declared work
   * @param step optimizer steps applied
   * @param eta expected end
   * @param metricName name of the held-out metric
   * @param metric its value at the end
   * @param lostOrRepeatedExamples examples that the audit found missing or trained twice
   * @param restarts times training came back from a checkpoint
   * @param rescales live changes of size or batch
   * @param grows of those, to more replicas
   * @param shrinks of those, to fewer replicas
   * @param medianPauseMillis median pause of a live change
   * @param maxPauseMillis longest pause of a live change
   * @param checkpointStep step of the newest checkpoint
   * @param checkpointTime when it was saved
   * @param predictedGoodput predicted goodput by replica count
   */
  public record JobRow(
      String namespace,
      String name,
      String program,
      TrainingJobStatus.Phase phase,
      @Nullable String submitted,
      @Nullable String started,
      @Nullable String ended,
      int replicas,
      @Nullable Integer trainingReplicas,
      int minReplicas,
      int maxReplicas,
      int slotsPerReplica,
      Map<String, Integer> nodes,
      @Nullable String reason,
      @Nullable String message,
      @Nullable String phaseReason,
      @Nullable String note,
      @Nullable String since,
      @Nullable BatchRow batch,
      @Nullable RanRow ran,
      @Nullable Double goodput,
      @Nullable Double throughput,
      @Nullable Double efficiency,
      @Nullable Double noiseScale,
      @Nullable Double loss,
      double percent,
      @Nullable Long step,
      @Nullable String eta,
      @Nullable String metricName,
      @Nullable Double metric,
      @Nullable Long lostOrRepeatedExamples,
      int restarts,
      int rescales,
      int grows,
      int shrinks,
      @Nullable Long medianPauseMillis,
      @Nullable Long maxPauseMillis,
      @Nullable Long checkpointStep,
      @Nullable String checkpointTime,
      Map<String, Double> predictedGoodput) {}

  /** The range of replicas and global batches that a job trained with. */
  public record RanRow(int minReplicas, int maxReplicas, int minGlobalBatch, int maxGlobalBatch) {}

  /** Global batch, and how a replica splits its share. */
  public record BatchRow(int global, int atomic, int accumulationSteps) {}
}
