package dev.kastor.scheduler.whatif;

import dev.kastor.scheduler.live.LiveCluster;
import dev.kastor.scheduler.live.LiveJob;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.model.Quota;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** Change of a live cluster whose consequences somebody asks for. */
public sealed interface Supposition {
  /**
   * The cluster with the change.
   *
   * @throws IllegalArgumentException if it names what the cluster does not have; the message lists
   *     what it has
   */
  LiveCluster in(LiveCluster cluster);

  /** The change as part of a sentence. */
  String text();

  /** One job more, submitted now. */
  record Added(LiveJob job) implements Supposition {
    @Override
    public LiveCluster in(LiveCluster cluster) {
      if (cluster.jobs().stream().anyMatch(each -> each.id().equals(job.id()))) {
        throw new IllegalArgumentException(
            "there is a job %s already. Give the one to add another name.".formatted(job.id()));
      }
      return cluster.plus(job);
    }

    @Override
    public String text() {
      return "job " + job.id();
    }
  }

  /** Another policy. */
  record Policy(String policy) implements Supposition {
    @Override
    public LiveCluster in(LiveCluster cluster) {
      return cluster.withPolicy(policy);
    }

    @Override
    public String text() {
      return "policy " + policy;
    }
  }

  /**
   * More or fewer nodes of a GPU type. New ones are like the largest that there is; those leave
   * that hold the least, of equals the last.
   *
   * @param count how many more; negative for fewer
   */
  record Nodes(int count, String gpuType) implements Supposition {
    @Override
    public LiveCluster in(LiveCluster cluster) {
      List<Node> alike =
          cluster.nodes().stream().filter(node -> node.gpuType().equals(gpuType)).toList();
      if (alike.isEmpty()) {
        throw new IllegalArgumentException(
            "the cluster has no nodes of GPU type '%s', only of %s"
                .formatted(gpuType, quoted(types(cluster))));
      }
      if (-(long) count > alike.size()) {
        throw new IllegalArgumentException(
            "%d nodes of GPU type '%s' cannot leave: there are %d"
                .formatted(-(long) count, gpuType, alike.size()));
      }
      List<Node> nodes = new ArrayList<>(cluster.nodes());
      if (count > 0) {
        Node like = alike.stream().max(Comparator.comparingInt(Node::slots)).orElseThrow();
        for (int n = 1; n <= count; n++) {
          nodes.add(
              new Node(
                      "whatif-%s-%d".formatted(gpuType.isEmpty() ? "node" : gpuType, n),
                      gpuType,
                      like.slots(),
                      "",
                      like.preemptible(),
                      like.pricePerHour())
                  .withSharing((double) like.slots() / Math.max(1, like.devices())));
        }
        nodes.sort(Comparator.comparing(Node::name));
      } else {
        Map<String, Integer> used = new HashMap<>();
        cluster
            .jobs()
            .forEach(job ->
                job.state()
                    .allocation()
                    .slotsByNode()
                    .forEach((node, slots) -> used.merge(node, slots, Integer::sum)));
        alike.reversed().stream()
            .sorted(Comparator.comparingInt(node -> used.getOrDefault(node.name(), 0)))
            .limit(-count)
            .forEach(nodes::remove);
      }
      return cluster.withNodes(nodes);
    }

    @Override
    public String text() {
      return "%d %s%s %s"
          .formatted(
              Math.abs(count),
              gpuType.isEmpty() ? "" : gpuType + " ",
              Math.abs(count) == 1 ? "node" : "nodes",
              count < 0 ? "fewer" : "more");
    }
  }

  /** Another quota of a queue; its limits of borrowing and lending stay. */
  record QueueQuota(String queue, int gpus) implements Supposition {
    @Override
    public LiveCluster in(LiveCluster cluster) {
      Queue known = cluster.queues().get(queue);
      if (known == null) {
        throw new IllegalArgumentException(
            "there is no queue '%s', only %s"
                .formatted(queue, quoted(new TreeSet<>(cluster.queues().keySet()))));
      }
      Quota quota =
          known
              .quota()
              .map(old -> new Quota(gpus, old.borrowingLimit(), old.lendingLimit()))
              .orElseGet(() -> new Quota(gpus));
      Map<String, Queue> queues = new TreeMap<>(cluster.queues());
      queues.put(queue, known.withQuota(quota));
      return cluster.withQueues(queues);
    }

    @Override
    public String text() {
      return "a quota of %d GPUs for queue %s".formatted(gpus, queue);
    }
  }

  /** Another priority of a job. */
  record Priority(JobId job, int priority) implements Supposition {
    @Override
    public LiveCluster in(LiveCluster cluster) {
      if (cluster.jobs().stream().noneMatch(each -> each.id().equals(job))) {
        throw new IllegalArgumentException(
            "no job %s runs or waits, only %s"
                .formatted(
                    job,
                    cluster.jobs().isEmpty()
                        ? "none"
                        : String.join(
                            ", ", cluster.jobs().stream().map(each -> "" + each.id()).toList())));
      }
      return cluster.withJobs(
          cluster.jobs().stream()
              .map(each -> each.id().equals(job) ? each.with(prior(each.state())) : each)
              .toList());
    }

    private JobState prior(JobState state) {
      return state.withSpec(state.spec().queued(state.spec().queue(), priority));
    }

    @Override
    public String text() {
      return "priority %d for job %s".formatted(priority, job);
    }
  }

  /** GPU types of a cluster. */
  static List<String> types(LiveCluster cluster) {
    return cluster.nodes().stream().map(Node::gpuType).distinct().sorted().toList();
  }

  private static String quoted(Collection<String> names) {
    return names.isEmpty()
        ? "none"
        : String.join(", ", names.stream().map(name -> "'" + name + "'").toList());
  }
}
