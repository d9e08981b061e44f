package dev.kastor.scheduler.policy.solve;

import dev.kastor.scheduler.policy.solve.MultipleChoice.Choice;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Solves {@link MultipleChoice} programs, exactly but for the solver's relative gap.
 *
 * <p>The same program as last time has the same answer. Where the best choices of all jobs fit
 * together they are the answer. Small programs go to {@link MultipleChoiceTable}, which is faster
 * than any general solver is to start; all others to {@link MixedIntegerSolver}. Deterministic;
 * owned by one thread.
 */
public final class MultipleChoiceSolver {
  private static final double MOST_TABLE_WORK = 6e6;

  private final MixedIntegerSolver general = new MixedIntegerSolver();
  private @Nullable MultipleChoice last;
  private int[] lastAnswer = new int[0];

  /** The id of each job's choice, -1 for nothing. */
  public int[] solve(MultipleChoice program) {
    if (!program.equals(last)) {
      lastAnswer = answer(program.reduced());
      last = program;
    }
    return lastAnswer.clone();
  }

  private int[] answer(MultipleChoice program) {
    int[] answer = new int[program.jobs().size()];
    Arrays.fill(answer, -1);
    int[] left = program.capacity().stream().mapToInt(Integer::intValue).toArray();
    List<List<Choice>> open = new ArrayList<>();
    List<Integer> indexes = new ArrayList<>();
    for (int j = 0; j < answer.length; j++) {
      MultipleChoice.Job job = program.jobs().get(j);
      if (!job.must()) {
        open.add(job.choices());
        indexes.add(j);
      } else if (job.choices().getFirst().slots() <= left[job.choices().getFirst().type()]) {
        answer[j] = job.choices().getFirst().id();
        left[job.choices().getFirst().type()] -= job.choices().getFirst().slots();
      }
    }
    int[] chosen = choose(open, left);
    for (int i = 0; i < chosen.length; i++) {
      if (chosen[i] >= 0) {
        answer[indexes.get(i)] = open.get(i).get(chosen[i]).id();
      }
    }
    return answer;
  }

  private int[] choose(List<List<Choice>> jobs, int[] capacity) {
    int[] wishes = wishes(jobs);
    if (fits(jobs, wishes, capacity)) {
      return wishes;
    }
    MultipleChoiceTable table = new MultipleChoiceTable(jobs, capacity);
    return table.work() <= MOST_TABLE_WORK ? table.solve() : general.solve(jobs, capacity);
  }

  private static int[] wishes(List<List<Choice>> jobs) {
    int[] wishes = new int[jobs.size()];
    for (int j = 0; j < wishes.length; j++) {
      double best = 0;
      wishes[j] = -1;
      for (int c = 0; c < jobs.get(j).size(); c++) {
        double cost = jobs.get(j).get(c).cost();
        if (cost < best - MultipleChoice.EQUAL) {
          best = cost;
          wishes[j] = c;
        }
      }
    }
    return wishes;
  }

  private static boolean fits(List<List<Choice>> jobs, int[] wishes, int[] capacity) {
    int[] left = capacity.clone();
    for (int j = 0; j < wishes.length; j++) {
      if (wishes[j] >= 0) {
        Choice choice = jobs.get(j).get(wishes[j]);
        left[choice.type()] -= choice.slots();
        if (left[choice.type()] < 0) {
          return false;
        }
      }
    }
    return true;
  }
}
