package dev.kastor.scheduler.live;

import dev.kastor.scheduler.live.LiveDocument.NodeDocument;
import dev.kastor.scheduler.live.LiveDocument.QueueDocument;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Recording of a live cluster over time, in which it travels from an operator to a replay. Times
 * are ISO 8601 texts.
 *
 * @param schema version of this form
 * @param from when the recording began
 * @param until when it was taken
 * @param policy the policy with its options that decided
 * @param seed seed of the policy
 * @param round longest time between two rounds
 * @param delay time from an event that asks for a round to the round
 * @param queues queues as they were at the end
 * @param nodes when which nodes were there, by rising arrival
 * @param jobs jobs by rising arrival
 * @param forgotten older jobs that are left out for want of space
 */
public record RecordingDocument(
    String schema,
    String from,
    String until,
    String policy,
    long seed,
    String round,
    String delay,
    List<QueueDocument> queues,
    List<NodeSpan> nodes,
    List<RecordedJob> jobs,
    int forgotten) {
  /** The one version that there is. */
  public static final String SCHEMA = "kastor.dev/recording/v1";

  /**
   * Time for which a node was there.
   *
   * @param from when a round first saw it
   * @param until when a round no longer did; absent where it is still there
   */
  public record NodeSpan(NodeDocument node, String from, @Nullable String until) {}

  /** Kinds of names that tell who uses a cluster for what. */
  public enum Named {
    NAMESPACE,
    JOB,
    FAMILY,
    QUEUE,
    COHORT,
    NODE,
    RACK
  }

  /** Other names for those of a recording; equal ones for equal ones. */
  public interface Renaming {
    /**
     * The other name.
     *
     * @param name not empty; of a job with its namespace and a slash before it
     */
    String of(Named kind, String name);
  }

  public RecordingDocument {
    if (!SCHEMA.equals(schema)) {
      throw new IllegalArgumentException(
          "schema of the recording must be %s but is %s. Use a command of the operator's version."
              .formatted(SCHEMA, schema));
    }
    queues = List.copyOf(queues);
    nodes = List.copyOf(nodes);
    jobs = List.copyOf(jobs);
  }

  /** The same under other names; GPU types keep theirs. */
  public RecordingDocument renamed(Renaming names) {
    return new RecordingDocument(
        schema,
        from,
        until,
        policy,
        seed,
        round,
        delay,
        queues.stream()
            .map(queue ->
                new QueueDocument(
                    other(names, Named.QUEUE, queue.name()),
                    queue.weight(),
                    other(names, Named.COHORT, queue.cohort()),
                    queue.quota(),
                    // A budget that is spent at the end of a recording was not at its begin.
                    queue.stopped() == null ? queue.stop() : queue.stopped().then(),
                    queue.pinsAlwaysHold(),
                    null))
            .toList(),
        nodes.stream()
            .map(span ->
                new NodeSpan(
                    new NodeDocument(
                        other(names, Named.NODE, span.node().name()),
                        span.node().gpuType(),
                        span.node().slots(),
                        span.node().devices(),
                        other(names, Named.RACK, span.node().rack()),
                        span.node().preemptible(),
                        span.node().pricePerHour(),
                        null),
                    span.from(),
                    span.until()))
            .toList(),
        jobs.stream().map(job -> renamed(job, names)).toList(),
        forgotten);
  }

  private static RecordedJob renamed(RecordedJob recorded, Renaming names) {
    JobDocument job = recorded.job();
    SpecDocument spec = job.spec();
    SpecDocument hidden =
        new SpecDocument(
            other(names, Named.NAMESPACE, spec.namespace()),
            other(names, Named.JOB, spec.namespace() + "/" + spec.name()),
            spec.submitted(),
            other(names, Named.FAMILY, spec.family()),
            spec.kind(),
            spec.minReplicas(),
            spec.maxReplicas(),
            spec.allowed(),
            spec.requestedReplicas(),
            spec.batchLimits(),
            spec.gpuType(),
            spec.byGpuType(),
            other(names, Named.QUEUE, spec.queue()),
            spec.priority(),
            spec.slotsPerReplica(),
            spec.mostExamples());
    return new RecordedJob(
        job.with(hidden, nodes(job.allocation(), names)),
        recorded.arrived(),
        recorded.doneBefore(),
        recorded.whole(),
        recorded.ended(),
        recorded.end(),
        recorded.held().stream()
            .map(held -> new RecordedJob.Held(held.at(), nodes(held.nodes(), names)))
            .toList(),
        recorded.forgottenChanges(),
        recorded.noise());
  }

  private static Map<String, Integer> nodes(Map<String, Integer> replicas, Renaming names) {
    Map<String, Integer> renamed = new LinkedHashMap<>();
    replicas.forEach((node, count) -> renamed.put(other(names, Named.NODE, node), count));
    return renamed;
  }

  private static String other(Renaming names, Named kind, String name) {
    return name.isEmpty() ? name : names.of(kind, name);
  }
}
