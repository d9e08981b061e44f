package dev.kastor.operator.nodes;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.kube.EventRecorder;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.metrics.Metrics;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.speed.JobSteps;
import dev.kastor.scheduler.speed.NodeSpeeds;
import jakarta.inject.Singleton;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Nodes whose steps take longer than those of others of their type, as reports tell; each change is
 * logged, counted and told to the job whose report showed it. Thread-safe.
 */
@Singleton
public final class SlowNodes {
  private static final Logger LOG = LoggerFactory.getLogger(SlowNodes.class);

  private final NodeSpeeds speeds = new NodeSpeeds();
  private final EventRecorder events;
  private final Metrics metrics;

  public SlowNodes(EventRecorder events, Metrics metrics) {
    this.events = events;
    this.metrics = metrics;
  }

  /** Steps of a job, which is compared with others of its family. */
  public JobSteps steps(JobId job, String family) {
    return new JobSteps(speeds, job.namespace(), family, job.toString());
  }

  /** The slow nodes by name, and how many times longer steps take there. */
  public Map<String, Double> slow() {
    return speeds.slow();
  }

  /**
   * The same nodes as policies are told of them.
   *
   * @param taken slots of jobs by node
   * @param present names of all nodes that there are: what is known of others is forgotten
   */
  public List<Node> told(
      List<Node> nodes, Supplier<Map<String, Integer>> taken, Set<String> present, Instant now) {
    Set<String> before = speeds.slow().keySet();
    speeds.age(present, now).forEach(node -> LOG.info("{}", changed(node)));
    before.stream().filter(node -> !present.contains(node)).forEach(metrics::nodeWell);
    return speeds.told(nodes, taken);
  }

  /** A report of the job showed that nodes are of another speed than was known. */
  public void changed(TrainingJob job, List<NodeSpeeds.Changed> nodes) {
    for (NodeSpeeds.Changed node : nodes) {
      String message = changed(node);
      if (node.now() > node.before()) {
        events.warning(job, "NodeSlow", message);
      } else {
        events.normal(job, "NodeFaster", message);
      }
      LOG.info("{}: its steps show it: {}", Labels.id(job), message);
    }
    if (!nodes.isEmpty() && speeds.unheard(Labels.id(job).toString())) {
      String message =
          "What the job's steps tell of the speed of nodes is not counted any more: they make one node after another look slow, which no other job confirms.";
      events.warning(job, "NodeClaimsIgnored", message);
      LOG.warn("{}: {}", Labels.id(job), message);
    }
  }

  private String changed(NodeSpeeds.Changed node) {
    if (node.now() == 1) {
      metrics.nodeWell(node.node());
      return "Node %s is as fast as others of its type again.".formatted(node.node());
    }
    metrics.nodeSlow(node.node(), node.now());
    return String.format(
        Locale.ROOT,
        "Steps take %.1f times as long on node %s as on others of its type. The scheduler counts"
            + " with that: look at the temperature, clocks and errors of its GPUs.",
        node.now(),
        node.node());
  }
}
