package dev.kastor.simulator.evaluate;

import dev.kastor.simulator.Outcome;
import dev.kastor.simulator.Run;
import dev.kastor.simulator.RunListener;
import dev.kastor.simulator.Simulate;
import dev.kastor.traces.TraceException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import java.util.concurrent.ConcurrentHashMap;

/**
 * All contenders of some parts on all workloads of some sets, each replayed once however many parts
 * ask for it. Complete once {@link #run} has returned.
 */
public final class Evaluation {
  private final List<WorkloadSet> sets;
  private final List<Part> parts;
  private final List<String> policies;
  private final List<Long> seeds;
  private final Simulate simulate;
  private final Map<Run, Figures> figures = new ConcurrentHashMap<>();

  private Evaluation(
      List<WorkloadSet> sets,
      List<Part> parts,
      List<String> policies,
      List<Long> seeds,
      Simulate simulate) {
    this.sets = List.copyOf(sets);
    this.parts = List.copyOf(parts);
    this.policies = List.copyOf(policies);
    this.seeds = List.copyOf(seeds);
    this.simulate = simulate;
  }

  /**
   * Reads all that is needed.
   *
   * @param policies that {@link Part#LOADS} compares
   * @param seeds of the replays that depend on one, at least one; results are their means
   * @throws TraceException if a file is bad or a job can never fit its cluster
   */
  public static Evaluation prepare(
      List<WorkloadSet> sets, List<Part> parts, List<String> policies, List<Long> seeds)
      throws TraceException {
    SequencedSet<Run> runs = new LinkedHashSet<>();
    for (WorkloadSet set : sets) {
      for (String workload : set.workloads()) {
        for (Contender contender : contenders(set, parts, policies)) {
          contender.seeds(seeds).forEach(seed -> runs.add(contender.run(set, workload, seed)));
        }
      }
    }
    return new Evaluation(sets, parts, policies, seeds, Simulate.prepare(List.copyOf(runs)));
  }

  /** What will be replayed. */
  public List<Run> runs() {
    return simulate.runs();
  }

  /** Makes all replays on so many threads. */
  public void run(int threads, RunListener listener) throws InterruptedException {
    simulate.each(
        threads,
        new RunListener() {
          @Override
          public void at(int run, double seconds, int done, int all) {
            listener.at(run, seconds, done, all);
          }

          @Override
          public void finished(int run, Outcome outcome) {
            // A replay holds megabytes; only its figures are kept.
            figures.put(outcome.run(), Figures.of(outcome));
            listener.finished(run, outcome);
          }
        });
  }

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
    return contenders(set, parts, policies);
  }

  /** Who is tried for a part, in the order of its table, without what they are held to. */
  List<Contender> contenders(Part part) {
    return contenders(part, policies);
  }

  private static List<Contender> contenders(Part part, List<String> policies) {
    return part.contenders().stream()
        .filter(one -> part != Part.LOADS || policies.contains(one.policy()))
        .toList();
  }

  private static List<Contender> contenders(
      WorkloadSet set, List<Part> parts, List<String> policies) {
    SequencedSet<Contender> all = new LinkedHashSet<>();
    all.add(Contender.baseline(set.mode()));
    for (Part part : parts) {
      if (part != Part.LOADS || set.load().isPresent()) {
        for (Contender contender : contenders(part, policies)) {
          if (part != Part.LOADS) {
            all.add(contender.reference());
          }
          all.add(contender);
        }
      }
    }
    return new ArrayList<>(all);
  }

  /** On one workload, in the mean of the seeds. */
  Figures of(WorkloadSet set, Contender contender, String workload) {
    return Figures.mean(
        contender.seeds(seeds).stream()
            .map(seed -> known(contender.run(set, workload, seed)))
            .toList());
  }

  /** On a whole set. */
  Figures of(WorkloadSet set, Contender contender) {
    return Figures.over(
        set.workloads().stream().map(workload -> of(set, contender, workload)).toList());
  }

  /** The mean completion time of one on a set over that of another. */
  double ratio(WorkloadSet set, Contender contender, Contender to) {
    return of(set, contender).meanSeconds() / of(set, to).meanSeconds();
  }

  private Figures known(Run run) {
    Figures found = figures.get(run);
    if (found == null) {
      throw new IllegalStateException("not replayed: " + run.label());
    }
    return found;
  }
}
