package dev.kastor.simulator.evaluate;

import dev.kastor.simulator.run.Outcome;
import dev.kastor.simulator.run.Run;
import dev.kastor.simulator.run.RunListener;
import dev.kastor.simulator.run.Simulate;
import dev.kastor.traces.TraceException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * All contenders of some parts on all workloads of some sets, each replayed once however many parts
 * ask for it. Complete once {@link #run} has returned.
 */
public final class Evaluation {
  private final List<WorkloadSet> sets;
  private final List<Part> parts;
  private final List<TriedPolicy> policies;
  private final List<Long> seeds;
  private final List<Run> runs;
  private final Simulate left;
  private final Map<Run, Result> results;
  private final Map<Run, String> failures = new ConcurrentHashMap<>();
  private final Bounds bounds = new Bounds();

  private Evaluation(
      List<WorkloadSet> sets,
      List<Part> parts,
      List<TriedPolicy> policies,
      List<Long> seeds,
      List<Run> runs,
      Map<Run, Result> known)
      throws TraceException {
    this.sets = List.copyOf(sets);
    this.parts = List.copyOf(parts);
    this.policies = List.copyOf(policies);
    this.seeds = List.copyOf(seeds);
    this.runs = runs;
    results = new ConcurrentHashMap<>(known);
    left = Simulate.prepare(runs.stream().filter(run -> !known.containsKey(run)).toList());
  }

  /**
   * Reads all that is needed.
   *
   * @param all sets; those that no part asks anything of are left out
   * @param policies that {@link Part#LOADS} compares
   * @param seeds of the replays that depend on one, at least one; results are their means
   * @param known replays that need not be made again
   * @throws TraceException if a file is bad or a job can never fit its cluster
   * @throws IllegalArgumentException if no part asks anything of any set
   */
  public static Evaluation prepare(
      List<WorkloadSet> all,
      List<Part> parts,
      List<TriedPolicy> policies,
      List<Long> seeds,
      KnownResults known)
      throws TraceException, IOException {
    List<WorkloadSet> sets =
        all.stream().filter(set -> parts.stream().anyMatch(part -> part.asks(set))).toList();
    if (sets.isEmpty()) {
      throw new IllegalArgumentException(
          "the parts %s ask nothing of the sets %s: loads needs sets with a load. Name other sets or parts."
              .formatted(
                  String.join(", ", parts.stream().map(Part::label).toList()),
                  String.join(", ", all.stream().map(WorkloadSet::name).toList())));
    }
    SequencedSet<Run> runs = new LinkedHashSet<>();
    // Part by part, so that one which is stopped has some tables whole when it is asked again.
    for (Part part : parts) {
      for (WorkloadSet set : sets) {
        for (String workload : set.workloads()) {
          for (Contender contender : needed(part, set, policies)) {
            contender.seeds(seeds).forEach(seed -> runs.add(contender.run(set, workload, seed)));
          }
        }
      }
    }
    Map<Run, Result> found = new LinkedHashMap<>();
    for (Run run : runs) {
      Optional<Result> result = known.find(run);
      if (result.isPresent()) {
        found.put(run, result.get());
      }
    }
    return new Evaluation(sets, parts, policies, seeds, List.copyOf(runs), found);
  }

  /** All replays that the answer needs. */
  public List<Run> runs() {
    return runs;
  }

  /** Those that are still to be made; a listener counts in them. */
  public List<Run> left() {
    return left.runs();
  }

  /**
   * Makes the replays that are left on so many threads.
   *
   * @param keep is told of each that ends well, by the thread that made it
   */
  public void run(int threads, KnownResults keep, RunListener listener)
      throws InterruptedException {
    left.each(
        threads,
        new RunListener() {
          @Override
          public void at(int run, double seconds, int done, int all) {
            listener.at(run, seconds, done, all);
          }

          @Override
          public void finished(int run, Outcome outcome) {
            // A replay holds megabytes; only its figures are kept.
            Result result = Result.of(outcome);
            keep.note(outcome.run(), result);
            results.put(outcome.run(), result);
            listener.finished(run, outcome);
          }

          @Override
          public boolean failed(int run, RuntimeException why) {
            failures.put(left.runs().get(run), why(why));
            var _ = listener.failed(run, why);
            return true;
          }
        });
  }

  /**
   * Computes the lower bound of each workload of each set that is not known.
   *
   * @param slot of time
   * @param listeners makes what is told how many steps of a workload's are done
   * @throws TraceException if a job can never run
   */
  public void bound(
      Duration slot, KnownResults keep, Function<String, ? extends Bounds.Listener> listeners)
      throws TraceException {
    for (WorkloadSet set : sets) {
      for (String workload : set.workloads()) {
        Run run = Contender.baseline(set.mode()).run(set, workload, seeds.getFirst());
        bounds.add(set, workload, left, run, slot, keep, listeners);
      }
    }
  }

  /** Lower bounds; of no workload until {@link #bound} was called. */
  Bounds bounds() {
    return bounds;
  }

  private static String why(RuntimeException failure) {
    String said = failure.getMessage();
    // One cell of a table.
    return said == null
        ? failure.getClass().getSimpleName()
        : said.lines().findFirst().orElse("").replace('|', '/');
  }

  /** Replays that could not be made to their end, and why, in the order in which they were due. */
  public SequencedMap<Run, String> failures() {
    SequencedMap<Run, String> ordered = new LinkedHashMap<>();
    for (Run run : runs) {
      String why = failures.get(run);
      if (why != null) {
        ordered.put(run, why);
      }
    }
    return Collections.unmodifiableSequencedMap(ordered);
  }

  /** How many replays each part needs besides those before, and what they cost. */
  public List<Cost> costs() {
    List<Cost> costs = new ArrayList<>();
    SequencedSet<Run> counted = new LinkedHashSet<>();
    for (Part part : parts) {
      int replays = 0;
      double cpuSeconds = 0;
      for (WorkloadSet set : sets) {
        for (Contender contender : needed(part, set, policies)) {
          for (String workload : set.workloads()) {
            for (Run run : runs(set, contender, workload)) {
              Result result = results.get(run);
              if (counted.add(run) && result != null) {
                replays++;
                cpuSeconds += result.cpuSeconds();
              }
            }
          }
        }
      }
      costs.add(new Cost(part, replays, cpuSeconds));
    }
    return costs;
  }

  /**
   * What a part cost.
   *
   * @param part the part
   * @param replays that no part before it needed
   * @param cpuSeconds of the replaying threads, whenever they were made
   */
  public record Cost(Part part, int replays, double cpuSeconds) {}

  List<WorkloadSet> sets() {
    return sets;
  }

  List<Part> parts() {
    return parts;
  }

  List<Long> seeds() {
    return seeds;
  }

  /** Everyone on a set, the baseline first. */
  List<Contender> contenders(WorkloadSet set) {
    SequencedSet<Contender> all = new LinkedHashSet<>();
    all.add(Contender.baseline(set.mode()));
    parts.forEach(part -> all.addAll(needed(part, set, policies)));
    return List.copyOf(all);
  }

  /** Who stands in the table of a part, in its order. */
  List<Contender> contenders(Part part, WorkloadSet set) {
    return contenders(part, set, policies);
  }

  /** Who was tried on any of some sets as load grows. */
  List<Contender> tried(List<WorkloadSet> sets) {
    return Part.LOADS.contenders(policies).stream()
        .filter(one -> sets.stream().anyMatch(set -> contenders(Part.LOADS, set).contains(one)))
        .toList();
  }

  private static List<Contender> contenders(
      Part part, WorkloadSet set, List<TriedPolicy> policies) {
    SequencedSet<Contender> all = new LinkedHashSet<>();
    if (part == Part.COMPARISON || part == Part.FAIRNESS) {
      all.add(Contender.baseline(set.mode()));
    }
    if (part == Part.FAIRNESS) {
      set.rivals().forEach(rival -> all.add(Contender.of(rival)));
    }
    part.contenders(policies).stream()
        .filter(one ->
            part != Part.LOADS || policies.stream().anyMatch(policy -> policy.tries(one, set)))
        .forEach(all::add);
    return List.copyOf(all);
  }

  /** Those, and whom they are held to. */
  private static List<Contender> needed(Part part, WorkloadSet set, List<TriedPolicy> policies) {
    if (!part.asks(set)) {
      return List.of();
    }
    SequencedSet<Contender> all = new LinkedHashSet<>();
    all.add(Contender.baseline(set.mode()));
    for (Contender one : contenders(part, set, policies)) {
      if (part == Part.ROBUSTNESS || part == Part.ABLATION) {
        all.add(one.reference());
      }
      if (part == Part.ROBUSTNESS) {
        all.add(one.reference().published(set.mode()));
        all.add(one.published(set.mode()));
      }
      all.add(one);
    }
    return List.copyOf(all);
  }

  static List<WorkloadSet> byLoad(List<WorkloadSet> sets) {
    return sets.stream()
        .filter(set -> set.load().isPresent())
        .sorted(Comparator.comparingDouble(set -> set.load().orElseThrow()))
        .toList();
  }

  private List<Run> runs(WorkloadSet set, Contender contender, String workload) {
    return contender.seeds(seeds).stream().map(seed -> contender.run(set, workload, seed)).toList();
  }

  /** On one workload, in the mean of the seeds. */
  Figures of(WorkloadSet set, Contender contender, String workload) {
    return Figures.mean(runs(set, contender, workload).stream().map(this::figures).toList());
  }

  /** On a whole set. */
  Figures of(WorkloadSet set, Contender contender) {
    return Figures.over(
        set.workloads().stream().map(workload -> of(set, contender, workload)).toList());
  }

  /** Of each replay on a set: workload by workload, seed by seed. */
  List<Figures> each(WorkloadSet set, Contender contender) {
    return set.workloads().stream()
        .flatMap(workload -> runs(set, contender, workload).stream())
        .map(this::figures)
        .toList();
  }

  /** The mean completion time of one on a set over that of another. */
  double ratio(WorkloadSet set, Contender contender, Contender to) {
    return of(set, contender).meanSeconds() / of(set, to).meanSeconds();
  }

  /** Why there are no figures of a set. */
  Optional<String> failure(WorkloadSet set, Contender contender) {
    return set.workloads().stream()
        .flatMap(workload -> failure(set, contender, workload).stream())
        .findFirst();
  }

  /** Why there are no figures of a workload. */
  Optional<String> failure(WorkloadSet set, Contender contender, String workload) {
    return runs(set, contender, workload).stream()
        .flatMap(run -> Optional.ofNullable(failures.get(run)).stream())
        .map(why -> "failed: " + why)
        .findFirst();
  }

  private Figures figures(Run run) {
    if (failures.containsKey(run)) {
      return Figures.NONE;
    }
    Result found = results.get(run);
    if (found == null) {
      throw new IllegalStateException("not replayed: " + run.label());
    }
    return found.figures();
  }
}
