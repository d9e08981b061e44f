package dev.kastor.scheduler.policy.pollux;

import dev.kastor.plugin.Option;
import dev.kastor.plugin.Options;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.Policy;
import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.PolicyPlugin;
import dev.kastor.scheduler.policy.PolicyTraits;
import dev.kastor.scheduler.policy.support.GoodputMemo;
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
 * <p>Unless a replay keeps to published rules we differ from the published simulator: solutions of
 * the last round are carried over by job; the matrix in force, one with room made for waiting jobs
 * and one made greedily join the first generation; idle slots are filled greedily at the end; and
 * today's allocation (with idle slots filled) is kept unless the plan beats it by {@value #MARGIN}
 * of its fitness. The cost of a re-allocation is the job's measured one in both.
 */
public final class PolluxPolicy implements Policy {
  private static final Option<Integer> POPULATION =
      Option.count(
              "population",
              0,
              "individuals that survive a generation of the search; 0: 60, in a replay by"
                  + " published rules 100")
          .where(value -> value == 0 || (value >= 2 && value <= 10_000), "from 2 to 10000, or 0");

  private static final Option<Integer> GENERATIONS =
      Option.count(
              "generations",
              0,
              "most generations of the search; 0: 60, in a replay by published rules 100")
          .where(value -> value >= 0, "of at least 1, or 0");

  private static final Option<Integer> PATIENCE =
      Option.count(
              "patience",
              0,
              "generations without a better best after which the search ends; 0: 12, in a replay by"
                  + " published rules 100")
          .where(value -> value >= 0, "of at least 1, or 0");

  /** Plug-in of this policy. */
  public static final PolicyPlugin PLUGIN =
      PolicyPlugin.of(
          "pollux",
          "A genetic search for the allocation with the best goodput (OSDI 2021).",
          PolicyTraits.of(Control.SIZE_AND_BATCH).withRandomness(),
          List.of(POPULATION, GENERATIONS, PATIENCE),
          PolluxPolicy::new);

  private static final double MARGIN = 0.005;

  private record Memory(List<JobId> jobs, List<String> nodes, List<int[]> genomes) {}

  private final GeneticSearch search;
  private final SplittableRandom random;
  private final GoodputMemo goodputs = new GoodputMemo();
  private Memory memory = new Memory(List.of(), List.of(), List.of());

  private PolluxPolicy(PolicyContext context, Options options) {
    boolean published = context.published();
    search =
        new GeneticSearch(
            chosen(options.get(POPULATION), published ? 100 : 60),
            chosen(options.get(GENERATIONS), published ? 100 : 60),
            chosen(options.get(PATIENCE), published ? 100 : 12),
            published);
    random = new SplittableRandom(context.seed());
  }

  private static int chosen(int value, int usual) {
    return value == 0 ? usual : value;
  }

  @Override
  public Plan plan(Snapshot snapshot) {
    PolluxProblem problem = new PolluxProblem(snapshot, search.published(), goodputs);
    int[] chosen = new int[0];
    if (problem.jobs > 0 && problem.nodes > 0) {
      chosen = search.published() ? searchFaithfully(problem) : search(problem);
    }
    return plan(snapshot, problem, chosen);
  }

  private int[] searchFaithfully(PolluxProblem problem) {
    List<int[]> seeds = remembered(problem);
    if (seeds.isEmpty()) {
      seeds.add(problem.current);
    }
    List<int[]> front = new GenomeSearch(problem, search, random.split()).run(seeds);
    remember(problem, front);
    return front.getFirst();
  }

  private int[] search(PolluxProblem problem) {
    GenomeSearch genomes = new GenomeSearch(problem, search, random.split());
    SlotFiller filler = new SlotFiller(problem);
    int[] kept = filler.fill(genomes.repaired(problem.current));
    List<int[]> seeds = new ArrayList<>();
    seeds.add(kept);
    seeds.add(filler.fill(filler.makeRoom(kept)));
    seeds.add(filler.fill(new int[problem.jobs * problem.nodes]));
    seeds.addAll(remembered(problem));
    List<int[]> front = genomes.run(seeds);
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
    if (search.published()) {
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
