package dev.kastor.scheduler.advice;

import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * Watches a cluster and advises how many nodes of each GPU type keep its goodput per cost within a
 * band (Pollux, OSDI 2021, sections 4.2.2 and 5.4, for one type without prices).
 *
 * <p>Each interval it takes a sample of what the allocations are worth over what the nodes cost.
 * When the mean of {@value #WINDOW} samples leaves the band, a binary search finds the nodes whose
 * best possible utility is nearest to the middle of the band, and sampling begins anew. A type
 * without the nodes that a job needs at the least is told at once. Differently from Pollux, the
 * search runs no policy but hands slots to the largest gains, and a job belongs to the type that it
 * runs on, or waiting to the one where its goodput is cheapest. Used by one thread at a time.
 */
public final class NodeAdvisor {
  /** Samples of which the mean decides. */
  public static final int WINDOW = 15;

  private static final String KEEP = "Keep";

  private final NodeRules rules;
  private final Duration interval;
  private final SequencedMap<String, NodeType> types = new LinkedHashMap<>();
  private final Map<String, Deque<Double>> samples = new HashMap<>();
  private final SequencedMap<String, NodeAdvice> current = new LinkedHashMap<>();
  private @Nullable Instant sampled;

  /**
   * An advisor.
   *
   * @param interval time between samples
   * @param known types of nodes that may be bought although none is there yet
   */
  public NodeAdvisor(NodeRules rules, Duration interval, List<NodeType> known) {
    this.rules = rules;
    this.interval = interval;
    known.forEach(type -> types.put(type.gpuType(), type));
  }

  /** The newest advice on each type, in the order in which they were seen first. */
  public List<NodeAdvice> current() {
    return List.copyOf(current.values());
  }

  /**
   * Looks at the cluster.
   *
   * @return advice that is new and asks for a change
   */
  public List<NodeAdvice> observe(Snapshot snapshot) {
    if (sampled != null && snapshot.now().isBefore(sampled.plus(interval))) {
      return List.of();
    }
    sampled = snapshot.now();
    Map<String, Integer> nodes = count(snapshot);
    Market market = new Market(List.copyOf(types.values()));
    Map<String, List<JobWorth>> jobs = new HashMap<>();
    Map<String, Double> worth = new HashMap<>();
    Map<String, Integer> waiting = new HashMap<>();
    assign(snapshot, market, jobs, worth, waiting);
    List<NodeAdvice> news = new ArrayList<>();
    for (NodeType type : market.types()) {
      Optional<NodeRules.Range> range = rules.range(type.gpuType());
      if (range.isPresent()) {
        String name = type.gpuType();
        Situation now =
            new Situation(
                type,
                range.get(),
                nodes.getOrDefault(name, 0),
                worth.getOrDefault(name, 0.0),
                waiting.getOrDefault(name, 0),
                jobs.getOrDefault(name, List.of()));
        NodeAdvice before = current.get(name);
        NodeAdvice advice = look(now, market);
        boolean searched = !advice.reason().code().equals(KEEP);
        boolean soon = samples(name).size() < WINDOW;
        if (searched) {
          samples(name).clear();
        } else if (soon && before != null && before.changes() && before.nodes() == now.nodes()) {
          // Nobody has followed the last advice yet, and there is no better one.
          advice = before;
        }
        current.put(name, advice);
        boolean known =
            before != null
                && before.nodes() == advice.nodes()
                && before.advised() == advice.advised();
        if (advice.changes() && !known) {
          news.add(advice);
        }
      }
    }
    return news;
  }

  private record Situation(
      NodeType type,
      NodeRules.Range range,
      int nodes,
      double worth,
      int waiting,
      List<JobWorth> jobs) {}

  private Map<String, Integer> count(Snapshot snapshot) {
    Map<String, Integer> nodes = new HashMap<>();
    for (Node node : snapshot.nodes()) {
      nodes.merge(node.gpuType(), 1, Integer::sum);
      NodeType known = types.get(node.gpuType());
      if (node.slots() > 0
          && (known == null
              || node.slots() > known.slots()
              || (known.pricePerHour() == 0 && node.pricePerHour() > 0))) {
        types.put(node.gpuType(), new NodeType(node.gpuType(), node.slots(), node.pricePerHour()));
      }
    }
    return nodes;
  }

  private static void assign(
      Snapshot snapshot,
      Market market,
      Map<String, List<JobWorth>> jobs,
      Map<String, Double> worth,
      Map<String, Integer> waiting) {
    Map<String, NodeType> byNode = new HashMap<>();
    Map<String, NodeType> byName = new HashMap<>();
    market.types().forEach(type -> byName.put(type.gpuType(), type));
    for (Node node : snapshot.nodes()) {
      NodeType type = byName.get(node.gpuType());
      if (type != null) {
        byNode.put(node.name(), type);
      }
    }
    for (JobState job : snapshot.jobs()) {
      JobWorth own = new JobWorth(job, market);
      NodeType runsOn = job.allocation().isEmpty() ? null : byNode.get(job.allocation().node(0));
      NodeType home = runsOn == null ? own.best().orElse(null) : runsOn;
      if (home != null) {
        jobs.computeIfAbsent(home.gpuType(), name -> new ArrayList<>()).add(own);
        if (runsOn == null) {
          waiting.merge(home.gpuType(), 1, Integer::sum);
        } else {
          worth.merge(home.gpuType(), own.of(job.allocation(), home), Double::sum);
        }
      }
    }
  }

  private NodeAdvice look(Situation now, Market market) {
    double cost = now.nodes() * market.nodeCost(now.type());
    Deque<Double> window = samples(now.type().gpuType());
    window.addLast(cost > 0 ? now.worth() / cost : 0);
    if (window.size() > WINDOW) {
      window.removeFirst();
    }
    double mean = window.stream().mapToDouble(Double::doubleValue).average().orElse(0);
    int least = now.jobs().stream().mapToInt(job -> job.leastNodes(now.type())).max().orElse(0);
    if (now.nodes() < Math.clamp(least, now.range().min(), now.range().max())) {
      return advice(now, market, mean, "TooFewToRun");
    }
    if (now.nodes() > now.range().max()) {
      return advice(now, market, mean, "AboveMaximum");
    }
    if (window.size() == WINDOW && mean < rules.low() && now.nodes() > now.range().min()) {
      return advice(now, market, mean, "BelowBand");
    }
    if (window.size() == WINDOW && mean > rules.high() && now.nodes() < now.range().max()) {
      return advice(now, market, mean, "AboveBand");
    }
    return advice(now, now.nodes(), mean, mean, market, KEEP);
  }

  /** Searches; what it finds may be what there is. */
  private NodeAdvice advice(Situation now, Market market, double mean, String code) {
    Demand demand = Demand.of(now.jobs(), now.type(), market);
    int advised = demand.nodes(rules, now.range());
    // Noise at the edge of the band must not turn its direction around.
    if (code.equals("BelowBand")) {
      advised = Math.min(advised, now.nodes());
    } else if (code.equals("AboveBand")) {
      advised = Math.max(advised, now.nodes());
    }
    return advice(now, advised, mean, demand.utility(advised), market, code);
  }

  private NodeAdvice advice(
      Situation now, int advised, double mean, double expected, Market market, String code) {
    SequencedMap<String, Double> numbers = new LinkedHashMap<>();
    numbers.put("nodes", (double) now.nodes());
    numbers.put("advisedNodes", (double) advised);
    numbers.put("utility", mean);
    numbers.put("expectedUtility", expected);
    numbers.put("low", rules.low());
    numbers.put("high", rules.high());
    numbers.put("samples", (double) samples(now.type().gpuType()).size());
    numbers.put("jobs", (double) now.jobs().size());
    numbers.put("waitingJobs", (double) now.waiting());
    if (market.priced()) {
      numbers.put("pricePerHour", now.nodes() * now.type().pricePerHour());
      numbers.put("advisedPricePerHour", advised * now.type().pricePerHour());
    }
    String name = now.type().gpuType().isEmpty() ? "" : " of type " + now.type().gpuType();
    String message =
        advised == now.nodes()
            ? String.format(
                Locale.ROOT,
                "%d nodes%s stay: utility %.2f, wanted %.2f to %.2f, allowed %d to %d.",
                now.nodes(),
                name,
                mean,
                rules.low(),
                rules.high(),
                now.range().min(),
                now.range().max())
            : String.format(
                Locale.ROOT,
                "%d nodes%s should become %d: utility %.2f, wanted %.2f to %.2f, expected then"
                    + " %.2f; %d jobs, %d of them waiting.",
                now.nodes(),
                name,
                advised,
                mean,
                rules.low(),
                rules.high(),
                expected,
                now.jobs().size(),
                now.waiting());
    return new NodeAdvice(
        now.type().gpuType(),
        now.nodes(),
        advised,
        mean,
        expected,
        new Reason(code, message, numbers));
  }

  private Deque<Double> samples(String gpuType) {
    return samples.computeIfAbsent(gpuType, type -> new ArrayDeque<>());
  }
}
