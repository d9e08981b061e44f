package dev.kastor.scheduler.speed;

import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.speed.NodeEvidence.Source;
import dev.kastor.scheduler.speed.StepTimes.Compared;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.Set;
import java.util.TreeMap;

/**
 * How many times longer steps take on each node of a cluster than on others of its GPU type.
 *
 * <p>Nobody tells which nodes are slow: each report of step times is compared with what jobs of the
 * same family measured of the same layout on other nodes. A step as fast as believed speaks for all
 * nodes that had a part in it; a slow one of replicas on a single node against that node; a slow
 * one of several nodes against those of which no step of their own is known, and against none of
 * them where a node that is known to be slow explains it. So a slow network does not make a node
 * slow whose own steps are fast. Factors are powers of the square root of two, and change only
 * where the median differs by 1.3 times and surely so: the more step times vary, the more reports
 * it takes.
 *
 * <p>All methods lock the object, since an operator's jobs report on several threads. Knows no
 * clock, and nothing outlives the process: what a restart forgets is learned again in minutes.
 */
public final class NodeSpeeds {
  private static final int NOISE_KEPT = 256;
  private static final int NOISE_ENOUGH = 16;
  private static final double LEAST_NOISE = 0.04;

  /** Assumed while comparisons are few. */
  private static final double FIRST_NOISE = 0.3;

  /** Standard deviation of normal values over the median of their absolute values. */
  private static final double OF_MEDIAN = 1.48;

  private static final int LEAST_JOBS = 2;
  private static final int LEAST_OF_OTHERS = 6;
  private static final int LEAST_OF_ITSELF = 3;
  private static final int MOST_ODD = 1_000;

  /** A node whose speed is known to be another one since a report. */
  public record Changed(String node, double before, double now) {}

  private final StepTimes times = new StepTimes();
  private final SequencedMap<String, NodeEvidence> nodes = new LinkedHashMap<>();
  private final Deque<Double> newest = new ArrayDeque<>();
  private final SequencedSet<String> odd = new LinkedHashSet<>();
  private double noise = FIRST_NOISE;
  private int sinceNoise;

  /** How many times longer a step takes with replicas on these nodes than on others; 1 usually. */
  public synchronized double slowdown(Collection<String> of) {
    double most = 1;
    for (String node : of) {
      NodeEvidence known = nodes.get(node);
      most = known == null ? most : Math.max(most, known.slowdown());
    }
    return most;
  }

  /** The nodes that are slower than others, by name, and how many times longer steps take there. */
  public synchronized Map<String, Double> slow() {
    Map<String, Double> slow = new TreeMap<>();
    nodes.forEach((name, evidence) -> {
      if (evidence.slowdown() > 1) {
        slow.put(name, evidence.slowdown());
      }
    });
    return slow;
  }

  /** The same nodes as policies are told of them; the same list while none is slow. */
  public synchronized List<Node> told(List<Node> all) {
    Map<String, Double> slow = slow();
    return slow.isEmpty() || all.stream().noneMatch(node -> slow.containsKey(node.name()))
        ? all
        : all.stream().map(node -> node.withSlowdown(slow.getOrDefault(node.name(), 1.0))).toList();
  }

  /**
   * Forgets nodes that are gone, and what is too old.
   *
   * @param present names of all nodes that there are
   * @return nodes whose speed is another one now
   */
  public synchronized List<Changed> age(Set<String> present, Instant now) {
    nodes.keySet().retainAll(present);
    List<String> old = new ArrayList<>();
    nodes.forEach((name, evidence) -> {
      if (evidence.ages(now)) {
        old.add(name);
      }
    });
    List<Changed> changed = judged(old, now);
    nodes.values().removeIf(NodeEvidence::isEmpty);
    return changed;
  }

  /**
   * Effect of steps that were taken in.
   *
   * @param changed nodes whose speed is another one now
   * @param slowdown how many times longer the steps took because of their nodes: 1 where they were
   *     as fast as believed, as on a node that has just recovered
   */
  record Observed(List<Changed> changed, double slowdown) {}

  /** Takes in steps. */
  synchronized Observed observe(Steps steps, Instant now) {
    Compared compared = heard(steps, now);
    times.add(steps);
    List<Changed> changed = judged(steps.nodes(), now);
    boolean fast = compared.known() && !slow(compared);
    return new Observed(changed, fast ? 1 : slowdown(steps.nodes()));
  }

  private List<Changed> judged(Collection<String> names, Instant now) {
    List<Changed> changed = List.of();
    for (String name : names) {
      NodeEvidence known = nodes.get(name);
      double before = known == null ? 1 : known.slowdown();
      if (known != null && known.judge(noise, now)) {
        changed = changed.isEmpty() ? new ArrayList<>() : changed;
        changed.add(new Changed(name, before, known.slowdown()));
      }
    }
    return changed;
  }

  /** Notes what the steps say of their nodes; returns what they were compared with. */
  private Compared heard(Steps steps, Instant now) {
    Compared others =
        odd.contains(steps.job())
            ? Compared.NOTHING
            : times.withOthers(steps, LEAST_JOBS, LEAST_OF_OTHERS, this::well);
    Compared itself =
        times.withItself(
            steps, LEAST_OF_ITSELF, node -> well(node) || evidence(node).onlyFrom(steps.job()));
    if (others.known() && itself.known() && slow(others) && !slow(itself)) {
      // As slow elsewhere: it is the job that differs from its family, not the node.
      differs(steps.job());
      others = Compared.NOTHING;
    }
    Compared best = others.known() ? others : itself;
    if (best.known()) {
      if (steps.nodes().size() == 1) {
        tell(steps.nodes(), Source.ALONE, best, steps, now);
      } else {
        tell(concerned(best, steps, now), Source.SHARED, best, steps, now);
      }
      return best;
    }
    if (steps.nodes().size() == 1 && evidence(steps.nodes().getFirst()).onlyBefore()) {
      Compared before = times.withItsFirst(steps);
      if (before.known()) {
        tell(steps.nodes(), Source.BEFORE, before, steps, now);
      }
      return before;
    }
    return Compared.NOTHING;
  }

  private void tell(
      List<String> nodes, Source source, Compared compared, Steps steps, Instant now) {
    boolean counts = false;
    for (String node : nodes) {
      counts |= evidence(node).add(source, compared, steps, now);
    }
    if (counts) {
      noise(compared, steps);
    }
  }

  /** The nodes for or against which a step of several speaks. */
  private List<String> concerned(Compared compared, Steps steps, Instant now) {
    if (!slow(compared)) {
      return steps.nodes();
    }
    double slowest = slowdown(steps.nodes());
    boolean explained = compared.logRatio() - Math.log(slowest) < NodeEvidence.LIMIT;
    return steps.nodes().stream()
        .filter(node ->
            explained ? evidence(node).slowdown() == slowest : !evidence(node).judgedDirectly(now))
        .toList();
  }

  private void differs(String job) {
    odd.addLast(job);
    if (odd.size() > MOST_ODD) {
      odd.removeFirst();
    }
    nodes.values().forEach(evidence -> evidence.withdraw(job));
  }

  private static boolean slow(Compared compared) {
    return compared.logRatio() >= NodeEvidence.LIMIT;
  }

  private boolean well(String node) {
    NodeEvidence known = nodes.get(node);
    return known == null || known.slowdown() == 1;
  }

  private NodeEvidence evidence(String node) {
    return nodes.computeIfAbsent(node, name -> new NodeEvidence());
  }

  /**
   * How much comparisons vary, known factors taken off; nodes of which nobody knows that they are
   * slow are a few among many.
   */
  private void noise(Compared compared, Steps steps) {
    double ratio = compared.logRatio();
    double known = Math.log(slowdown(steps.nodes()));
    newest.addLast(Math.min(Math.abs(ratio), Math.abs(ratio - known)));
    if (newest.size() > NOISE_KEPT) {
      newest.removeFirst();
    }
    if (++sinceNoise >= NOISE_ENOUGH) {
      sinceNoise = 0;
      double[] sorted = newest.stream().mapToDouble(each -> each).sorted().toArray();
      noise = Math.max(LEAST_NOISE, OF_MEDIAN * sorted[sorted.length / 2]);
    }
  }
}
