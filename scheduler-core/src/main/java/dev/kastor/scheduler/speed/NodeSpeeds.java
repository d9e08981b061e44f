package dev.kastor.scheduler.speed;

import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.speed.NodeEvidence.Source;
import dev.kastor.scheduler.speed.StepTimes.Compared;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;

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
  private static final int LEAST_JOBS = 2;
  private static final int LEAST_OF_OTHERS = 6;
  private static final int LEAST_OF_ITSELF = 3;
  private static final int MOST_ODD = 1_000;

  /** Slow nodes of which one job alone may tell in an hour before it is taken to be odd itself. */
  private static final int MOST_TOLD = 2;

  private static final Duration TOLD_FOR = Duration.ofHours(1);

  /** A node whose speed is known to be another one since a report. */
  public record Changed(String node, double before, double now) {}

  /** A node that was called slow by one job alone. */
  private record Told(String node, Instant at) {}

  private final StepTimes times = new StepTimes();
  private final SequencedMap<String, NodeEvidence> nodes = new LinkedHashMap<>();
  private final Noise noise = new Noise();
  private final SequencedSet<String> odd = new LinkedHashSet<>();
  private final SequencedMap<String, Deque<Told>> tellers = new LinkedHashMap<>();
  private final SequencedMap<String, Instant> unheard = new LinkedHashMap<>();

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

  /**
   * The same nodes as policies are told of them; the same list while none is slow. What one job
   * alone says of its node, compared with nothing but its own begin, displaces nobody: it is told
   * while other nodes of the type have free slots for all who are on that node.
   *
   * @param taken slots of jobs by node; asked for where it matters
   */
  public synchronized List<Node> told(List<Node> all, Supplier<Map<String, Integer>> taken) {
    Map<String, Double> slow = slow();
    List<String> claimed = slow.keySet().stream().filter(name -> evidence(name).claimed()).toList();
    if (!claimed.isEmpty()) {
      Map<String, Integer> held = taken.get();
      claimed.stream().filter(name -> !hasRoom(name, all, held, slow)).forEach(slow::remove);
    }
    return slow.isEmpty() || all.stream().noneMatch(node -> slow.containsKey(node.name()))
        ? all
        : all.stream().map(node -> node.withSlowdown(slow.getOrDefault(node.name(), 1.0))).toList();
  }

  private static boolean hasRoom(
      String name, List<Node> all, Map<String, Integer> taken, Map<String, Double> slow) {
    Optional<Node> node = all.stream().filter(each -> each.name().equals(name)).findFirst();
    int free =
        all.stream()
            .filter(each ->
                node.filter(of -> of.gpuType().equals(each.gpuType())).isPresent()
                    && !slow.containsKey(each.name()))
            .mapToInt(each -> Math.max(0, each.slots() - taken.getOrDefault(each.name(), 0)))
            .sum();
    return free >= taken.getOrDefault(name, 0);
  }

  /**
   * Whether what a job says of nodes counts for nothing, as it made one after another look slow.
   */
  public synchronized boolean unheard(String job) {
    return unheard.containsKey(job);
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
    unheard.values().removeIf(now::isAfter);
    if (unheard.containsKey(steps.job())) {
      return new Observed(List.of(), slowdown(steps.nodes()));
    }
    Compared compared = heard(steps, now);
    times.add(steps);
    List<Changed> changed = judged(steps.nodes(), now);
    // A step of several nodes cannot tell which of them is slow, and calls all of them so for now.
    if (steps.nodes().size() == 1 && tellsTooMuch(steps.job(), changed, now)) {
      List<Changed> all = new ArrayList<>(changed);
      all.addAll(judged(List.copyOf(nodes.keySet()), now));
      changed = all;
    }
    boolean fast = compared.known() && !slow(compared);
    return new Observed(changed, fast ? 1 : slowdown(steps.nodes()));
  }

  private List<Changed> judged(Collection<String> names, Instant now) {
    List<Changed> changed = List.of();
    for (String name : names) {
      NodeEvidence known = nodes.get(name);
      double before = known == null ? 1 : known.slowdown();
      if (known != null && known.judge(noise::of, now)) {
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
    double difference = Math.abs(compared.logRatio());
    for (String node : nodes) {
      difference = Math.min(difference, evidence(node).difference(steps.owner(), compared));
      counts |= evidence(node).add(source, compared, steps, now);
    }
    if (counts) {
      noise(compared, steps, difference);
    }
  }

  /** The nodes for or against which a step of several speaks. */
  private List<String> concerned(Compared compared, Steps steps, Instant now) {
    if (!slow(compared)) {
      return steps.nodes();
    }
    double slowest = slowdown(steps.nodes());
    // Of a node at the cap nobody knows how much slower it is.
    boolean explained =
        slowest >= NodeEvidence.MOST
            || compared.logRatio() - Math.log(slowest) < NodeEvidence.LIMIT;
    return steps.nodes().stream()
        .filter(node ->
            explained ? evidence(node).slowdown() == slowest : !evidence(node).judgedDirectly(now))
        .toList();
  }

  /**
   * Whether a job has called more nodes slow by its word alone than one job meets: then its word
   * counts no more, for none of them.
   */
  private boolean tellsTooMuch(String job, List<Changed> changed, Instant now) {
    boolean more = false;
    for (Changed node : changed) {
      if (node.now() > node.before() && evidence(node.node()).onlyFrom(job)) {
        Deque<Told> told = tellers.computeIfAbsent(job, name -> new ArrayDeque<>());
        told.removeIf(
            each -> each.node().equals(node.node()) || now.isAfter(each.at().plus(TOLD_FOR)));
        told.addLast(new Told(node.node(), now));
        more |= told.size() > MOST_TOLD;
      }
    }
    if (tellers.size() > MOST_ODD) {
      var _ = tellers.pollFirstEntry();
    }
    if (more) {
      unheard.putLast(job, now.plus(TOLD_FOR));
      if (unheard.size() > MOST_ODD) {
        var _ = unheard.pollFirstEntry();
      }
      withdraw(job);
    }
    return more;
  }

  private void differs(String job) {
    odd.addLast(job);
    if (odd.size() > MOST_ODD) {
      odd.removeFirst();
    }
    withdraw(job);
  }

  private void withdraw(String job) {
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
  private void noise(Compared compared, Steps steps, double difference) {
    double known = Math.log(slowdown(steps.nodes()));
    noise.add(steps.owner(), Math.min(difference, Math.abs(compared.logRatio() - known)));
  }
}
