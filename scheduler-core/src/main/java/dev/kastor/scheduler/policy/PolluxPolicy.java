package dev.kastor.scheduler.policy;

import dev.kastor.scheduler.Allocation;
import dev.kastor.scheduler.JobId;
import dev.kastor.scheduler.JobState;
import dev.kastor.scheduler.Plan;
import dev.kastor.scheduler.Policy;
import dev.kastor.scheduler.Reason;
import dev.kastor.scheduler.Snapshot;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SplittableRandom;

/**
 * Pollux's cluster-wide optimisation of goodput (OSDI 2021, section 4.2): a genetic search for the
 * allocation matrix with the best power mean of speedups.
 *
 * <p>Unless the search is {@code faithful} we differ from the published simulator: solutions of the
 * last round are carried over by job; the matrix in force, one with room made for waiting jobs and
 * one made greedily join the first generation; idle slots are filled greedily at the end; and
 * today's allocation (with idle slots filled) is kept unless the plan beats it by {@value #MARGIN}
 * of its fitness. The cost of a re-allocation is the job's measured one in both.
 */
public final class PolluxPolicy implements Policy {
  static final String NAME = "pollux";

  private static final double MARGIN = 0.005;

  private record Memory(List<JobId> jobs, List<String> nodes, List<int[]> genomes) {}

  private final PolicyOptions.GeneticSearch options;
  private final SplittableRandom random;
  private final GoodputMemo goodputs = new GoodputMemo();
  private Memory memory = new Memory(List.of(), List.of(), List.of());

  PolluxPolicy(PolicyOptions options) {
    this.options = options.search();
    random = new SplittableRandom(options.seed());
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Plan plan(Snapshot snapshot) {
    PolluxProblem problem = new PolluxProblem(snapshot, options.faithful(), goodputs);
    int[] chosen = new int[0];
    if (problem.jobs > 0 && problem.nodes > 0) {
      chosen = options.faithful() ? searchFaithfully(problem) : search(problem);
    }
    return plan(snapshot, problem, chosen);
  }

  private int[] searchFaithfully(PolluxProblem problem) {
    List<int[]> seeds = remembered(problem);
    if (seeds.isEmpty()) {
      seeds.add(problem.current);
    }
    List<int[]> front = new GenomeSearch(problem, options, random.split()).run(seeds);
    remember(problem, front);
    return front.getFirst();
  }

  private int[] search(PolluxProblem problem) {
    GenomeSearch search = new GenomeSearch(problem, options, random.split());
    SlotFiller filler = new SlotFiller(problem);
    int[] kept = filler.fill(search.repaired(problem.current));
    List<int[]> seeds = new ArrayList<>();
    seeds.add(kept);
    seeds.add(filler.fill(filler.makeRoom(kept)));
    seeds.add(filler.fill(new int[problem.jobs * problem.nodes]));
    seeds.addAll(remembered(problem));
    List<int[]> front = search.run(seeds);
    remember(problem, front);
    int[] best = filler.fill(front.getFirst());
    boolean better = problem.fitness(best) > problem.fitness(kept) * (1 + MARGIN);
    return better ? best : kept;
  }

  private void remember(PolluxProblem problem, List<int[]> front) {
    List<JobId> jobs = new ArrayList<>();
    for (int j = 0; j < problem.jobs; j++) {
      jobs.add(problem.job(j).id());
    }
    memory = new Memory(jobs, problem.nodeNames(), List.copyOf(front));
  }

  /** The last round's front in this round's order of jobs; empty after a change of nodes. */
  private List<int[]> remembered(PolluxProblem problem) {
    List<int[]> genomes = new ArrayList<>();
    if (!memory.nodes().equals(problem.nodeNames())) {
      return genomes;
    }
    Map<JobId, Integer> now = new LinkedHashMap<>();
    for (int j = 0; j < problem.jobs; j++) {
      now.put(problem.job(j).id(), j);
    }
    List<Integer> from = new ArrayList<>();
    List<Integer> to = new ArrayList<>();
    for (int row = 0; row < memory.jobs().size(); row++) {
      Integer j = now.get(memory.jobs().get(row));
      if (j != null) {
        from.add(row);
        to.add(j);
      }
    }
    if (options.faithful()) {
      // The published simulator matches survivors by rank, not by identity.
      to.sort(null);
    }
    for (int[] old : memory.genomes()) {
      int[] genome = new int[problem.jobs * problem.nodes];
      for (int i = 0; i < from.size(); i++) {
        System.arraycopy(
            old, from.get(i) * problem.nodes, genome, to.get(i) * problem.nodes, problem.nodes);
      }
      genomes.add(genome);
    }
    return genomes;
  }

  private static Plan plan(Snapshot snapshot, PolluxProblem problem, int[] genome) {
    Map<JobId, Plan.Assignment> made = new HashMap<>();
    for (int j = 0; j < problem.jobs; j++) {
      Allocation allocation = genome.length == 0 ? Allocation.NONE : problem.allocation(genome, j);
      made.put(
          problem.job(j).id(),
          new Plan.Assignment(allocation, PolluxReason.of(problem, j, allocation)));
    }
    SequencedMap<JobId, Plan.Assignment> assignments = new LinkedHashMap<>();
    for (JobState job : snapshot.jobs()) {
      Plan.Assignment assignment = made.get(job.id());
      assignments.put(
          job.id(),
          assignment != null
              ? assignment
              : new Plan.Assignment(
                  job.allocation(),
                  Reason.of("Pinned", "Must keep its allocation in this round.")));
    }
    return new Plan(assignments);
  }
}
