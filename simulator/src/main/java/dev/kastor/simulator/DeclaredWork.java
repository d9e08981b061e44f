package dev.kastor.simulator;

import java.util.SplittableRandom;

/**
 * What jobs say of their work: schedulers see it as the total of their progress, and jobs still end
 * when their true work is done.
 *
 * @param declared whether they say anything
 * @param error by what share a declared total may be off: each job's is the true one times a factor
 *     drawn uniformly from {@code [1 - error, 1 + error]}, in [0, 1)
 */
public record DeclaredWork(boolean declared, double error) {
  /** The truth. */
  public static final DeclaredWork EXACT = new DeclaredWork(true, 0);

  /** Nothing. */
  public static final DeclaredWork ABSENT = new DeclaredWork(false, 0);

  /** Keeps these draws apart from all others that follow from the same seed. */
  private static final long STREAM = 0x6465636c61726564L;

  public DeclaredWork {
    if (!(error >= 0 && error < 1)) {
      throw new IllegalArgumentException(
          "the error of declared work must be at least 0 and below 1 but is " + error);
    }
  }

  /**
   * Reads {@code exact}, {@code absent} or an error such as {@code 0.5}.
   *
   * @throws IllegalArgumentException with what is wrong and how it should look
   */
  public static DeclaredWork parse(String text) {
    return switch (text) {
      case "exact" -> EXACT;
      case "absent" -> ABSENT;
      default -> {
        try {
          yield new DeclaredWork(true, Double.parseDouble(text));
        } catch (NumberFormatException e) {
          throw new IllegalArgumentException(
              "declared work '%s' must be exact, absent or an error such as 0.5".formatted(text),
              e);
        }
      }
    };
  }

  /** The factors of the jobs of a replay, one after another in the workload's order. */
  public Factors factors(long seed) {
    return new Factors(this, new SplittableRandom(seed ^ STREAM));
  }

  /** Factors between true and declared totals; owned by one simulation. */
  public static final class Factors {
    private final DeclaredWork work;
    private final SplittableRandom random;

    private Factors(DeclaredWork work, SplittableRandom random) {
      this.work = work;
      this.random = random;
    }

    /** That of the next job; 0 where nothing is declared. */
    public double next() {
      if (!work.declared) {
        return 0;
      }
      return work.error == 0 ? 1 : 1 + work.error * (2 * random.nextDouble() - 1);
    }
  }

  /** The form that {@link #parse} reads. */
  @Override
  public String toString() {
    if (!declared) {
      return "absent";
    }
    return error == 0 ? "exact" : Double.toString(error);
  }
}
