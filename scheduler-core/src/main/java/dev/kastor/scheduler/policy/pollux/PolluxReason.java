package dev.kastor.scheduler.policy.pollux;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Reason;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.SequencedMap;

/** The numbers behind one job's share in a plan of {@link PolluxPolicy}. */
final class PolluxReason {
  private PolluxReason() {}

  static Reason of(PolluxProblem problem, int j, Allocation to) {
    JobState job = problem.job(j);
    Allocation from = job.allocation();
    double before = problem.goodput(j, from.nodes(), from.slots());
    double after = problem.goodput(j, to.nodes(), to.slots());
    SequencedMap<String, Double> numbers = new LinkedHashMap<>();
    numbers.put("speedup", problem.speedup(j, to.nodes(), to.slots()));
    numbers.put("fairShareSlots", (double) problem.fairShare());
    numbers.put("maxSlotsNow", (double) problem.maxSlots(j));
    if (job.model().isPresent()) {
      numbers.put("goodputBeforeExamplesPerSecond", before);
      numbers.put("goodputAfterExamplesPerSecond", after);
    }
    numbers.put("changeCostSeconds", job.rescaleCost().toNanos() * 1e-9);
    numbers.put("reallocationFactor", problem.reallocationFactor(j));
    return new Reason(code(from, to), message(job, from, to, before, after), numbers);
  }

  private static String code(Allocation from, Allocation to) {
    if (from.equals(to)) {
      return from.isEmpty() ? "Waiting" : "Kept";
    }
    if (from.isEmpty()) {
      return "Started";
    }
    if (to.isEmpty()) {
      return "Preempted";
    }
    int difference = to.replicas() - from.replicas();
    return difference == 0 ? "Migrated" : difference > 0 ? "Grown" : "Shrunk";
  }

  private static String message(
      JobState job, Allocation from, Allocation to, double before, double after) {
    String size = "%d to %d replicas".formatted(from.replicas(), to.replicas());
    return switch (code(from, to)) {
      case "Waiting" ->
          "Waits: no slots for its minimum of %d would raise the mean speedup."
              .formatted(job.spec().elasticity().min());
      case "Kept" -> "Keeps %d replicas: no change is worth its cost.".formatted(to.replicas());
      case "Preempted" -> "Gives up its slots to jobs that gain more by them.";
      default ->
          job.model().isEmpty()
              ? size + ": its goodput has not been measured yet."
              : String.format(
                  Locale.ROOT,
                  "%s: goodput %.4g to %.4g examples/s, a change costs it %.1f s.",
                  size,
                  before,
                  after,
                  job.rescaleCost().toNanos() * 1e-9);
    };
  }
}
