package dev.kastor.scheduler.policy.shockwave;

import com.google.ortools.Loader;
import com.google.ortools.linearsolver.MPConstraint;
import com.google.ortools.linearsolver.MPObjective;
import com.google.ortools.linearsolver.MPSolver;
import com.google.ortools.linearsolver.MPSolverParameters;
import com.google.ortools.linearsolver.MPVariable;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Shockwave's program over the next rounds (NSDI 2023, section 6): which jobs run in which, so that
 * the weighted mean of the logarithm of their progress at the end is largest, less a little for the
 * longest time then left.
 *
 * <p>The logarithm is a broken line through {@value #PIECES} equal pieces of the work. Solved to
 * {@value #GAP} of the best or for {@value #NODES} nodes of the search, whichever is first, so that
 * the answer does not depend on the machine's speed. Owned by one thread.
 */
final class WelfarePlan {
  /** Rounds that are planned together. */
  static final int ROUNDS = 5;

  private static final String SOLVER = "SCIP";
  private static final int PIECES = 5;
  private static final double ORIGIN = 1e-6;
  private static final double MAKESPAN_WEIGHT = 1e-9;
  private static final double GAP = 1e-3;
  private static final int NODES = 100;

  /** What an earlier round is worth: less than any progress, enough to order equal plans. */
  private static final double EARLINESS = 1e-5;

  /**
   * A job to plan for.
   *
   * @param index its position in the snapshot
   * @param slots GPUs while it runs
   * @param secondsDone time it has run
   * @param secondsLeft time it still has to run
   * @param weight of its progress, at least 1
   * @param running whether it runs now
   */
  record Job(
      int index,
      int slots,
      double secondsDone,
      double secondsLeft,
      double weight,
      boolean running) {}

  private @Nullable MPSolver solver;

  /** Which jobs run in the first round. */
  boolean[] first(List<Job> jobs, int slots, double roundSeconds) {
    boolean[] chosen = new boolean[jobs.size()];
    if (jobs.stream().mapToInt(Job::slots).sum() <= slots) {
      Arrays.fill(chosen, true);
      return chosen;
    }
    if (jobs.stream().noneMatch(job -> job.slots() <= slots)) {
      return chosen;
    }
    MPSolver program = solver();
    program.clear();
    program.objective().setMaximization();
    MPConstraint[] capacity = new MPConstraint[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
      capacity[r] = program.makeConstraint(0, slots);
    }
    MPVariable longest = program.makeNumVar(0, MPSolver.infinity(), "longest");
    program.objective().setCoefficient(longest, -MAKESPAN_WEIGHT);
    MPVariable[] now = new MPVariable[chosen.length];
    for (int j = 0; j < now.length; j++) {
      now[j] = add(jobs.get(j), jobs.size(), roundSeconds, capacity, longest);
    }
    solve(program);
    for (int j = 0; j < now.length; j++) {
      chosen[j] = now[j].solutionValue() > 0.5;
    }
    return chosen;
  }

  /** Adds a job; returns the variable that says whether it runs in the first round. */
  private MPVariable add(
      Job job, int jobs, double roundSeconds, MPConstraint[] capacity, MPVariable longest) {
    MPSolver program = solver();
    MPObjective objective = program.objective();
    double all = job.secondsDone() + job.secondsLeft();
    // Useful time within the window is what is planned, and never more than is left.
    MPVariable seconds = program.makeNumVar(0, job.secondsLeft(), "");
    MPConstraint planned = program.makeConstraint(-MPSolver.infinity(), 0);
    planned.setCoefficient(seconds, 1);
    MPVariable[] runs = new MPVariable[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
      runs[r] = program.makeBoolVar("");
      capacity[r].setCoefficient(runs[r], job.slots());
      planned.setCoefficient(runs[r], -roundSeconds);
      double stays = r == 0 && job.running() ? 1 : 0;
      objective.setCoefficient(runs[r], EARLINESS / jobs * (ROUNDS - r + stays));
    }
    MPVariable utility = program.makeNumVar(-MPSolver.infinity(), 0, "");
    objective.setCoefficient(utility, job.weight() / (jobs * (double) ROUNDS));
    for (int piece = 0; piece < PIECES; piece++) {
      double from = (double) piece / PIECES;
      double to = (double) (piece + 1) / PIECES;
      double slope = (log(to) - log(from)) / (to - from);
      // utility <= log(from) + slope * (done + seconds - from * all) / all
      double constant = log(from) + slope * (job.secondsDone() / all - from);
      MPConstraint below = program.makeConstraint(-MPSolver.infinity(), constant);
      below.setCoefficient(utility, 1);
      below.setCoefficient(seconds, -slope / all);
    }
    MPConstraint rest = program.makeConstraint(job.secondsLeft(), MPSolver.infinity());
    rest.setCoefficient(longest, 1);
    rest.setCoefficient(seconds, 1);
    return runs[0];
  }

  private static double log(double progress) {
    return Math.log(Math.max(ORIGIN, progress));
  }

  private static void solve(MPSolver program) {
    MPSolverParameters parameters = new MPSolverParameters();
    parameters.setDoubleParam(MPSolverParameters.DoubleParam.RELATIVE_MIP_GAP, GAP);
    program.setSolverSpecificParametersAsString("limits/nodes = " + NODES);
    MPSolver.ResultStatus status = program.solve(parameters);
    parameters.delete();
    if (status != MPSolver.ResultStatus.OPTIMAL && status != MPSolver.ResultStatus.FEASIBLE) {
      throw new IllegalStateException(
          "%s found no plan, though running nobody is one: %s".formatted(SOLVER, status));
    }
  }

  private MPSolver solver() {
    MPSolver known = solver;
    if (known == null) {
      Loader.loadNativeLibraries();
      known = MPSolver.createSolver(SOLVER);
      if (known == null) {
        throw new IllegalStateException("this OR-Tools has no solver " + SOLVER);
      }
      solver = known;
    }
    return known;
  }
}
