package dev.kastor.scheduler.speed;

import dev.kastor.scheduler.estimate.FairEviction;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Step times by family, layout, job and nodes, as they were reported: what further reports are
 * compared with.
 *
 * <p>Of jobs that are alike the same layout takes as long on all nodes that are well. Times at
 * other batches, of half to twice the size, are scaled as the job's model has it; the level comes
 * from other nodes only, so that a job that always ran on a slow node does not take its speed for
 * the usual one. Bounded: of more than {@value #MOST_LAYOUTS} layouts the owner of most loses the
 * one heard of longest ago. Owned by {@link NodeSpeeds}.
 */
final class StepTimes {
  static final int MOST_LAYOUTS = 512;

  private static final int MOST_RUNS = 12;
  private static final int MOST_SAMPLES = 8;
  private static final int FIRST = 4;

  /** By how many times batches may differ that are compared. */
  private static final int REACH = 2;

  private record Sample(int atomicBatch, double stepSeconds) {}

  /** Steps of one job on the same nodes: the first few and the newest. */
  private static final class Run {
    final String job;
    final List<String> nodes;
    final List<Sample> first = new ArrayList<>();
    final Deque<Sample> newest = new ArrayDeque<>();

    Run(String job, List<String> nodes) {
      this.job = job;
      this.nodes = nodes;
    }

    void add(Sample sample) {
      if (first.size() < FIRST) {
        first.add(sample);
      }
      newest.addLast(sample);
      if (newest.size() > MOST_SAMPLES) {
        newest.removeFirst();
      }
    }
  }

  /** Runs of one family in one layout, the one heard of longest ago first. */
  private static final class Runs {
    final String owner;
    final List<Run> runs = new ArrayList<>();

    Runs(String owner) {
      this.owner = owner;
    }

    Run run(Steps steps) {
      for (int i = 0; i < runs.size(); i++) {
        Run run = runs.get(i);
        if (run.job.equals(steps.job()) && run.nodes.equals(steps.nodes())) {
          if (i < runs.size() - 1) {
            runs.remove(i);
            runs.add(run);
          }
          return run;
        }
      }
      Run run = new Run(steps.job(), steps.nodes());
      runs.add(run);
      if (runs.size() > MOST_RUNS) {
        runs.removeFirst();
      }
      return run;
    }
  }

  /**
   * Steps over those that they are compared with.
   *
   * @param logRatio logarithm of the ratio of step times
   * @param samples how many times the others' are the median of
   */
  record Compared(double logRatio, int samples) {
    /** Nothing to compare with. */
    static final Compared NOTHING = new Compared(0, 0);

    boolean known() {
      return samples > 0;
    }
  }

  private final SequencedMap<Steps.Layout, Runs> layouts = new LinkedHashMap<>();

  /** Adds what was reported. */
  void add(Steps steps) {
    Steps.Layout key = steps.layout();
    Runs layout = layouts.remove(key);
    if (layout == null) {
      layout = new Runs(steps.owner());
    }
    layouts.putLast(key, layout);
    layout
        .run(steps)
        .add(new Sample(steps.profile().atomicBatchSize(), steps.profile().stepSeconds()));
    if (layouts.size() > MOST_LAYOUTS) {
      FairEviction.surplus(layouts.sequencedKeySet(), this::owner, each -> 1, MOST_LAYOUTS)
          .forEach(layouts::remove);
    }
  }

  private String owner(Steps.Layout key) {
    Runs layout = layouts.get(key);
    return layout == null ? "" : layout.owner;
  }

  /** Compared with other jobs, at least so many of them, on nodes that are none of these. */
  Compared withOthers(Steps steps, int leastJobs, int leastSamples, Predicate<String> well) {
    List<Sample> samples = new ArrayList<>();
    Set<String> jobs = new HashSet<>();
    for (Run run : runs(steps)) {
      if (!run.job.equals(steps.job())
          && elsewhere(run, steps, well)
          && samples.addAll(near(steps, run.newest))) {
        jobs.add(run.job);
      }
    }
    boolean enough = jobs.size() >= leastJobs && samples.size() >= leastSamples;
    return enough ? compared(steps, samples) : Compared.NOTHING;
  }

  /** Compared with the job itself on nodes that are none of these. */
  Compared withItself(Steps steps, int leastSamples, Predicate<String> well) {
    List<Sample> samples = new ArrayList<>();
    for (Run run : runs(steps)) {
      if (run.job.equals(steps.job()) && elsewhere(run, steps, well)) {
        samples.addAll(near(steps, run.newest));
      }
    }
    return samples.size() >= leastSamples ? compared(steps, samples) : Compared.NOTHING;
  }

  /** Compared with the first steps of the job on the same nodes. */
  Compared withItsFirst(Steps steps) {
    for (Run run : runs(steps)) {
      if (run.job.equals(steps.job()) && run.nodes.equals(steps.nodes())) {
        List<Sample> first = near(steps, run.first);
        return first.size() < FIRST ? Compared.NOTHING : compared(steps, first);
      }
    }
    return Compared.NOTHING;
  }

  private Collection<Run> runs(Steps steps) {
    Runs layout = layouts.get(steps.layout());
    return layout == null ? List.of() : layout.runs;
  }

  private static boolean elsewhere(Run run, Steps steps, Predicate<String> well) {
    return Collections.disjoint(run.nodes, steps.nodes()) && run.nodes.stream().allMatch(well);
  }

  /** Samples of batches within the reach of a model, of which some may be fitted to little. */
  private static List<Sample> near(Steps steps, Collection<Sample> samples) {
    int own = steps.profile().atomicBatchSize();
    List<Sample> near = new ArrayList<>(samples.size());
    for (Sample sample : samples) {
      long other = sample.atomicBatch();
      boolean within = other <= (long) REACH * own && own <= REACH * other;
      if (within && Double.isFinite(steps.scale(sample.atomicBatch()))) {
        near.add(sample);
      }
    }
    return near;
  }

  private static Compared compared(Steps steps, List<Sample> samples) {
    double[] believed =
        samples.stream()
            .mapToDouble(each -> each.stepSeconds() * steps.scale(each.atomicBatch()))
            .sorted()
            .toArray();
    double middle = believed[(believed.length - 1) / 2];
    return new Compared(Math.log(steps.profile().stepSeconds() / middle), believed.length);
  }
}
