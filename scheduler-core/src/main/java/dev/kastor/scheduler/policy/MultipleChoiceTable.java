package dev.kastor.scheduler.policy;

import dev.kastor.scheduler.policy.MultipleChoice.Choice;
import java.util.Arrays;
import java.util.List;

/**
 * Solves a small {@link MultipleChoice} by a table over the slots used of each type (dynamic
 * programming for knapsacks with a choice per item: Kellerer, Pferschy and Pisinger, Knapsack
 * Problems, 2004, chapter 11). Exact; its cost is the number of states times that of all choices.
 */
final class MultipleChoiceTable {
  private final List<List<Choice>> jobs;
  private final int[] capacity;
  private final int[] stride;
  private final long states;

  MultipleChoiceTable(List<List<Choice>> jobs, int[] capacity) {
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
  double work() {
    return (double) states * (jobs.size() + jobs.stream().mapToInt(List::size).sum());
  }

  /** The index of each job's choice, -1 for nothing. */
  int[] solve() {
    int count = (int) states;
    double[] best = new double[count];
    double[] next = new double[count];
    byte[][] taken = new byte[jobs.size()][count];
    for (int j = 0; j < taken.length; j++) {
      System.arraycopy(best, 0, next, 0, count);
      Arrays.fill(taken[j], (byte) -1);
      List<Choice> choices = jobs.get(j);
      for (int c = 0; c < choices.size(); c++) {
        take(choices.get(c), (byte) c, best, next, taken[j]);
      }
      double[] last = best;
      best = next;
      next = last;
    }
    int[] chosen = new int[jobs.size()];
    int state = count - 1;
    for (int j = chosen.length - 1; j >= 0; j--) {
      chosen[j] = taken[j][state];
      if (chosen[j] >= 0) {
        Choice choice = jobs.get(j).get(chosen[j]);
        state -= choice.slots() * stride[choice.type()];
      }
    }
    return chosen;
  }

  /** Entries are the least cost with at most so many slots used of each type. */
  private void take(Choice choice, byte index, double[] before, double[] after, byte[] taken) {
    int block = stride[choice.type()] * (capacity[choice.type()] + 1);
    int offset = stride[choice.type()] * choice.slots();
    double cost = choice.cost();
    for (int start = 0; start < after.length; start += block) {
      for (int state = start + offset; state < start + block; state++) {
        double with = before[state - offset] + cost;
        if (with < after[state] - MultipleChoice.EQUAL) {
          after[state] = with;
          taken[state] = index;
        }
      }
    }
  }
}
