package dev.kastor.simulator.replay;

import java.util.SplittableRandom;

/**
 * What jobs say of their work: schedulers see it as the total of their progress, and jobs still end
 * when their true work is done.
 *
 * @param declared whether they say anything
 * @param factor by how much the declared totals of all jobs are too large, above 0
 * @param error by what share a declared total may be off besides: each job's is multiplied by a
 *     number drawn uniformly from {@code [1 - error, 1 + error]}, in [0, 1)
 */
public record DeclaredWork(boolean declared, double factor, double error) {
  /** The truth. */
  public static final DeclaredWork EXACT = new DeclaredWork(true, 1, 0);

  /** Nothing. */
  public static final DeclaredWork ABSENT = new DeclaredWork(false, 1, 0);

  /** Keeps these draws apart from all others that follow from the same seed. */
  private static final long STREAM = 0x6465636c61726564L;

  public DeclaredWork {
    if (!(factor > 0 && Double.isFinite(factor))) {
      throw new IllegalArgumentException(
          "the factor of declared work must be above 0 but is " + factor);
    }
    if (!(error >= 0 && error < 1)) {
      throw new IllegalArgumentException(
          "the error of declared work must be at least 0 and below 1 but is " + error);
    }
  }

  /**
   * Reads {@code exact}, {@code absent}, an error such as {@code 0.5}, or a factor for all such as
   * {@code x1.5}.
   *
   * @throws IllegalArgumentException with what is wrong and how it should look
   */
  public static DeclaredWork parse(String text) {
    return switch (text) {
      case "exact" -> EXACT;
      case "absent" -> ABSENT;
      default -> {
        try {
          yield text.startsWith("x")
              ? new DeclaredWork(true, Double.parseDouble(text.substring(1)), 0)
              : new DeclaredWork(true, 1, Double.parseDouble(text));
        } catch (NumberFormatException e) {
          throw new IllegalArgumentException(
              "declared work '%s' must be exact, absent, an error such as 0.5 or a factor such as x1.5"
                  .formatted(text),
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
      return work.error == 0
          ? work.factor
          : work.factor * (1 + work.error * (2 * random.nextDouble() - 1));
    }
  }

  /** The form that {@link #parse} reads, as far as it has one. */
  @Override
  public String toString() {
    if (!declared) {
      return "absent";
    }
    if (factor != 1) {
      return error == 0 ? "x" + factor : "x%s, %s".formatted(factor, error);
    }
    return error == 0 ? "exact" : Double.toString(error);
  }
}
