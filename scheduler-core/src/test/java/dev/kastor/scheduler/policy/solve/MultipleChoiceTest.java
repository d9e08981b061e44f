package dev.kastor.scheduler.policy.solve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.scheduler.policy.solve.MultipleChoice.Choice;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

final class MultipleChoiceTest {
  private static MultipleChoice program(SplittableRandom random, int jobs, int... capacity) {
    List<MultipleChoice.Job> made = new ArrayList<>();
    for (int j = 0; j < jobs; j++) {
      List<Choice> choices = new ArrayList<>();
      for (int t = 0; t < capacity.length; t++) {
        for (int slots = 1; slots <= capacity[t]; slots *= 2) {
          double cost = Math.rint(100 * random.nextDouble(1.3) / Math.sqrt(slots)) / 100 - 1.1;
          choices.add(new Choice(choices.size(), t, slots, cost));
        }
      }
      made.add(new MultipleChoice.Job(choices, false));
    }
    List<Integer> slots = new ArrayList<>();
    for (int one : capacity) {
      slots.add(one);
    }
    return new MultipleChoice(made, slots);
  }

  /** The cost of an answer, which must fit. */
  private static double cost(MultipleChoice program, int[] answer) {
    int[] left = program.capacity().stream().mapToInt(Integer::intValue).toArray();
    double cost = 0;
    for (int j = 0; j < answer.length; j++) {
      if (answer[j] >= 0) {
        Choice choice = program.jobs().get(j).choices().get(answer[j]);
        left[choice.type()] -= choice.slots();
        cost += choice.cost();
      }
    }
    assertThat(Arrays.stream(left).min().orElse(0)).isNotNegative();
    return cost;
  }

  @Tag("slow")
  @Test
  void tableAndGeneralSolverFindTheSameCost() {
    SplittableRandom random = new SplittableRandom(5);
    MixedIntegerSolver general = new MixedIntegerSolver();
    for (int round = 0; round < 15; round++) {
      MultipleChoice program = program(random, 2 + round, 8, 4 + round % 4);
      List<List<Choice>> jobs = program.jobs().stream().map(MultipleChoice.Job::choices).toList();
      int[] capacity = program.capacity().stream().mapToInt(Integer::intValue).toArray();
      double table = cost(program, new MultipleChoiceTable(jobs, capacity).solve());
      assertThat(cost(program, general.solve(jobs, capacity)))
          .as("round %d", round)
          .isCloseTo(table, within(1e-4 * Math.abs(table) + 1e-9));
      assertThat(cost(program, new MultipleChoiceSolver().solve(program)))
          .isCloseTo(table, within(1e-9));
    }
  }

  @Tag("slow")
  @Test
  void leavesProgramsTooLargeForATableToTheGeneralSolver() {
    MultipleChoice program = program(new SplittableRandom(6), 40, 64, 64, 64);
    int[] answer = new MultipleChoiceSolver().solve(program);
    assertThat(cost(program, answer)).isLessThan(-20);
    assertThat(new MultipleChoiceSolver().solve(program)).isEqualTo(answer);
  }

  @Test
  void givesFirstToThoseWhoMustGetTheirs() {
    Choice dear = new Choice(3, 0, 4, 5);
    Choice cheap = new Choice(0, 0, 1, -1);
    MultipleChoice program =
        new MultipleChoice(
            List.of(
                new MultipleChoice.Job(List.of(cheap), false),
                new MultipleChoice.Job(List.of(dear), true)),
            List.of(4));
    assertThat(new MultipleChoiceSolver().solve(program)).containsExactly(-1, 3);
  }

  @Test
  void takesTheFirstOfEquals() {
    MultipleChoice.Job job =
        new MultipleChoice.Job(
            List.of(new Choice(2, 1, 2, -0.5), new Choice(0, 0, 2, -0.5)), false);
    assertThat(new MultipleChoiceSolver().solve(new MultipleChoice(List.of(job), List.of(2, 2))))
        .containsExactly(2);
    // Only one of two fits on either type: both are used.
    assertThat(
            new MultipleChoiceSolver().solve(new MultipleChoice(List.of(job, job), List.of(2, 2))))
        .containsExactlyInAnyOrder(0, 2);
  }
}
