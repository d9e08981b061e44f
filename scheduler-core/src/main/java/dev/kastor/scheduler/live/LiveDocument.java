package dev.kastor.scheduler.live;

import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.model.Quota;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.StopPolicy;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Document of a {@link LiveCluster}, in which it travels from an operator to a command.
 *
 * <p>Times are ISO 8601 texts, so that nothing is rounded on the way.
 *
 * @param schema version of this form
 * @param now when it was true
 */
public record LiveDocument(
    String schema,
    String now,
    String policy,
    long seed,
    String round,
    String delay,
    List<NodeDocument> nodes,
    List<QueueDocument> queues,
    List<JobDocument> jobs,
    int held) {
  /** The one version that there is. */
  public static final String SCHEMA = "kastor.dev/snapshot/v1";

  /**
   * A node.
   *
   * @param devices absent where there is one for each slot
   * @param slowdown absent where it is as fast as others of its type
   */
  public record NodeDocument(
      String name,
      String gpuType,
      int slots,
      @Nullable Integer devices,
      String rack,
      boolean preemptible,
      double pricePerHour,
      @Nullable Double slowdown) {
    /** The document of a node. */
    public static NodeDocument of(Node node) {
      return new NodeDocument(
          node.name(),
          node.gpuType(),
          node.slots(),
          node.devices() == node.slots() ? null : node.devices(),
          node.rack(),
          node.preemptible(),
          node.pricePerHour(),
          node.slowdown() == 1 ? null : node.slowdown());
    }

    private Node node() {
      double times = slowdown == null ? 1 : slowdown;
      int has = devices == null ? slots : devices;
      return new Node(name, gpuType, slots, has, rack, preemptible, pricePerHour, times);
    }
  }

  /**
   * A queue.
   *
   * @param quota absent without a limit
   * @param stopped why nobody runs until some time; absent where only its stop policy counts
   */
  public record QueueDocument(
      String name,
      double weight,
      String cohort,
      @Nullable Quota quota,
      String stop,
      boolean pinsAlwaysHold,
      @Nullable StoppedDocument stopped) {
    /**
     * A stop that ends by itself.
     *
     * @param until when it ends
     * @param then the stop policy from then on
     */
    public record StoppedDocument(String code, String message, String until, String then) {
      private static @Nullable StoppedDocument of(Queue queue) {
        return queue.reopening().isEmpty() || queue.stopReason().isEmpty()
            ? null
            : new StoppedDocument(
                queue.stopReason().get().code(),
                queue.stopReason().get().message(),
                queue.reopening().get().at().toString(),
                queue.reopening().get().stop().name());
      }
    }

    /** The documents of queues, in name order. */
    public static List<QueueDocument> of(Map<String, Queue> queues) {
      return new TreeMap<>(queues)
          .values().stream()
              .map(queue ->
                  new QueueDocument(
                      queue.name(),
                      queue.weight(),
                      queue.cohort(),
                      queue.quota().orElse(null),
                      queue.stop().name(),
                      queue.pinsAlwaysHold(),
                      StoppedDocument.of(queue)))
              .toList();
    }

    /** The queue of the document. */
    public Queue queue() {
      Queue open =
          new Queue(
              name,
              weight,
              cohort,
              Optional.ofNullable(quota),
              StopPolicy.valueOf(stopped == null ? stop : stopped.then()),
              pinsAlwaysHold);
      return stopped == null
          ? open
          : open.stopped(
              Reason.of(stopped.code(), stopped.message()), Instant.parse(stopped.until()));
    }
  }

  public LiveDocument {
    if (!SCHEMA.equals(schema)) {
      throw new IllegalArgumentException(
          "schema of the snapshot must be %s but is %s. Use a command of the operator's version."
              .formatted(SCHEMA, schema));
    }
    nodes = List.copyOf(nodes);
    queues = List.copyOf(queues);
    jobs = List.copyOf(jobs);
  }

  /** The document of a cluster. */
  public static LiveDocument of(LiveCluster cluster) {
    return new LiveDocument(
        SCHEMA,
        cluster.now().toString(),
        cluster.policy(),
        cluster.seed(),
        cluster.round().toString(),
        cluster.delay().toString(),
        cluster.nodes().stream().map(NodeDocument::of).toList(),
        QueueDocument.of(cluster.queues()),
        cluster.jobs().stream().map(JobDocument::of).toList(),
        cluster.held());
  }

  /**
   * The cluster of the document.
   *
   * @throws IllegalArgumentException if a value is not one that a cluster can have
   * @throws java.time.format.DateTimeParseException if a time is none
   */
  public LiveCluster cluster() {
    return new LiveCluster(
        Instant.parse(now),
        policy,
        seed,
        Duration.parse(round),
        Duration.parse(delay),
        nodes.stream().map(NodeDocument::node).toList(),
        queues.stream()
            .map(QueueDocument::queue)
            .collect(Collectors.toMap(Queue::name, Function.identity())),
        jobs.stream().map(JobDocument::job).toList(),
        held);
  }
}
