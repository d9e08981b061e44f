package dev.kastor.scheduler.policy.solve;

import java.util.ArrayList;
import java.util.List;

/**
 * An integer program of Sia's form (SOSP 2023, section 3.3): give each job at most one of its
 * choices, within the slots of each GPU type, at least cost.
 *
 * @param jobs the choices of each job
 * @param capacity slots by type
 */
public record MultipleChoice(List<Job> jobs, List<Integer> capacity) {
  /**
   * A job.
   *
   * @param choices what it may get, in order of preference among equals
   * @param must whether it must get the first of them
   */
  public record Job(List<Choice> choices, boolean must) {
    public Job {
      choices = List.copyOf(choices);
    }
  }

  /**
   * Slots of one type.
   *
   * @param id names it among the job's choices; at least 0
   * @param type index of the type
   * @param slots how many
   * @param cost against getting nothing, which costs 0
   */
  public record Choice(int id, int type, int slots, double cost) {
    private boolean beats(Choice other) {
      return type == other.type && slots <= other.slots && cost <= other.cost;
    }
  }

  /** Costs closer than this are equal. */
  static final double EQUAL = 1e-9;

  public MultipleChoice {
    jobs = List.copyOf(jobs);
    capacity = List.copyOf(capacity);
  }

  /** The same without choices that no best answer needs. */
  public MultipleChoice reduced() {
    List<Job> kept = new ArrayList<>();
    for (Job job : jobs) {
      kept.add(job.must() ? job : new Job(undominated(job.choices()), false));
    }
    return new MultipleChoice(kept, capacity);
  }

  private List<Choice> undominated(List<Choice> choices) {
    List<Choice> kept = new ArrayList<>();
    for (int i = 0; i < choices.size(); i++) {
      Choice one = choices.get(i);
      boolean needed = one.cost() < -EQUAL && one.slots() <= capacity.get(one.type());
      for (int k = 0; k < choices.size() && needed; k++) {
        Choice other = choices.get(k);
        needed = k == i || !other.beats(one) || (k > i && one.beats(other));
      }
      if (needed) {
        kept.add(one);
      }
    }
    return kept;
  }
}
