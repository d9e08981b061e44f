package dev.kastor.scheduler.policy.solve;

import dev.kastor.scheduler.policy.solve.MultipleChoice.Choice;
import java.util.List;

/**
 * Solves a small {@link MultipleChoice} by a table over the slots used of each type (dynamic
 * programming for knapsacks with a choice per item: Kellerer, Pferschy and Pisinger, Knapsack
 * Problems, 2004, chapter 11). Exact; its cost is the number of states times that of all choices.
 */
public final class MultipleChoiceTable {
  private final List<List<Choice>> jobs;
  private final int[] capacity;
  private final int[] stride;
  private final long states;

  /** A program that is not solved yet. */
  public MultipleChoiceTable(List<List<Choice>> jobs, int[] capacity) {
    this.jobs = jobs;
    this.capacity = useful(jobs, capacity);
    stride = new int[capacity.length];
    long count = 1;
    for (int t = 0; t < stride.length; t++) {
      stride[t] = (int) count;
      count = Math.min(Integer.MAX_VALUE, count * (this.capacity[t] + 1));
    }
    states = count;
  }

  /** No more of a type than all jobs together could take. */
  private static int[] useful(List<List<Choice>> jobs, int[] capacity) {
    int[] wanted = new int[capacity.length];
    for (List<Choice> choices : jobs) {
      int[] most = new int[capacity.length];
      for (Choice choice : choices) {
        most[choice.type()] = Math.max(most[choice.type()], choice.slots());
      }
      for (int t = 0; t < wanted.length; t++) {
        wanted[t] = Math.min(capacity[t], wanted[t] + most[t]);
      }
    }
    return wanted;
  }

  /** Steps that {@link #solve} will take. */
  public double work() {
    return (double) states * (jobs.size() + jobs.stream().mapToInt(List::size).sum());
  }

  /** The index of each job's choice, -1 for nothing. */
  public int[] solve() {
    // least[j][s]: the least cost of the first j jobs in at most as many slots as state s stands
    // for.
    double[][] least = new double[jobs.size() + 1][];
    least[0] = new double[(int) states];
    for (int j = 0; j < jobs.size(); j++) {
      least[j + 1] = least[j].clone();
      for (Choice choice : jobs.get(j)) {
        take(choice, least[j], least[j + 1]);
      }
    }
    int[] chosen = new int[jobs.size()];
    int state = (int) states - 1;
    for (int j = chosen.length - 1; j >= 0; j--) {
      chosen[j] = chosen(jobs.get(j), least[j], least[j + 1][state], state);
      if (chosen[j] >= 0) {
        state -= offset(jobs.get(j).get(chosen[j]));
      }
    }
    return chosen;
  }

  private int offset(Choice choice) {
    return choice.slots() * stride[choice.type()];
  }

  private void take(Choice choice, double[] before, double[] after) {
    int block = stride[choice.type()] * (capacity[choice.type()] + 1);
    int offset = offset(choice);
    double cost = choice.cost();
    for (int start = 0; start < after.length; start += block) {
      for (int state = start + offset; state < start + block; state++) {
        after[state] = Math.min(after[state], before[state - offset] + cost);
      }
    }
  }

  /** Which choice led to a cost: of equals nothing, then the first. */
  private int chosen(List<Choice> choices, double[] before, double cost, int state) {
    if (before[state] <= cost + MultipleChoice.EQUAL) {
      return -1;
    }
    for (int c = 0; c < choices.size(); c++) {
      Choice choice = choices.get(c);
      int used = state / stride[choice.type()] % (capacity[choice.type()] + 1);
      if (choice.slots() <= used
          && before[state - offset(choice)] + choice.cost() <= cost + MultipleChoice.EQUAL) {
        return c;
      }
    }
    throw new IllegalStateException("no choice of %s costs %s".formatted(choices, cost));
  }
}
