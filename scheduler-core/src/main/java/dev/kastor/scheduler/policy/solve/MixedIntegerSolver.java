package dev.kastor.scheduler.policy.solve;

import com.google.ortools.Loader;
import com.google.ortools.linearsolver.MPConstraint;
import com.google.ortools.linearsolver.MPObjective;
import com.google.ortools.linearsolver.MPSolver;
import com.google.ortools.linearsolver.MPSolverParameters;
import com.google.ortools.linearsolver.MPVariable;
import dev.kastor.scheduler.policy.solve.MultipleChoice.Choice;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A {@link MultipleChoice} as a mixed integer program for SCIP, through OR-Tools. The native
 * library is loaded at the first use, which takes half a second. Owned by one thread.
 */
final class MixedIntegerSolver {
  private static final String SOLVER = "SCIP";

  /** As published: the answer costs at most this share more than the best. */
  private static final double GAP = 1e-4;

  private @Nullable MPSolver solver;

  /** The index of each job's choice, -1 for nothing. */
  int[] solve(List<List<Choice>> jobs, int[] capacity) {
    MPSolver program = solver();
    program.clear();
    MPObjective objective = program.objective();
    objective.setMinimization();
    MPConstraint[] slots = new MPConstraint[capacity.length];
    for (int t = 0; t < slots.length; t++) {
      slots[t] = program.makeConstraint(0, capacity[t]);
    }
    List<List<MPVariable>> taken = new ArrayList<>();
    for (List<Choice> choices : jobs) {
      MPConstraint once = program.makeConstraint(0, 1);
      List<MPVariable> variables = new ArrayList<>();
      for (Choice choice : choices) {
        MPVariable variable = program.makeBoolVar("");
        objective.setCoefficient(variable, choice.cost());
        once.setCoefficient(variable, 1);
        slots[choice.type()].setCoefficient(variable, choice.slots());
        variables.add(variable);
      }
      taken.add(variables);
    }
    MPSolverParameters parameters = new MPSolverParameters();
    parameters.setDoubleParam(MPSolverParameters.DoubleParam.RELATIVE_MIP_GAP, GAP);
    MPSolver.ResultStatus status = program.solve(parameters);
    parameters.delete();
    if (status != MPSolver.ResultStatus.OPTIMAL) {
      throw new IllegalStateException(
          "%s found no assignment of %d jobs: %s".formatted(SOLVER, jobs.size(), status));
    }
    int[] chosen = new int[jobs.size()];
    for (int j = 0; j < chosen.length; j++) {
      chosen[j] = -1;
      for (int c = 0; c < taken.get(j).size(); c++) {
        if (taken.get(j).get(c).solutionValue() > 0.5) {
          chosen[j] = c;
        }
      }
    }
    return chosen;
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
