package dev.kastor.scheduler.policy.kastor;

/**
 * Knobs of the {@code kastor} policy, each of which an ablation may turn off.
 *
 * @param hold seconds over which a cluster changes: an allocation is expected to stay for the
 *     geometric mean of this and its pause, as the best interval between checkpoints is that of the
 *     time between failures and the cost of one (Young, CACM 1974); a pause is worth taking if the
 *     gain of that time exceeds it
 * @param firstReplicas most replicas of a job that was never measured
 * @param growth most replicas are this many times the most ever measured
 * @param ranking whether a job counts only the jobs that outlast it as those it delays; else all
 * @param pricing whether jobs are worth what the GPU time they take is worth to others; else all
 *     the same
 * @param hysteresis whether a change has to earn its pause
 * @param fairness finish-time fairness beyond which a job's worth grows with its square, so that it
 *     cannot go on without GPUs; infinite for never
 * @param minimumRun seconds for which a job keeps at least what it was given
 * @param budget most steps of the exact solver, a nanosecond or so each; 0 to go by prices alone
 */
public record KastorOptions(
    double hold,
    int firstReplicas,
    double growth,
    boolean ranking,
    boolean pricing,
    boolean hysteresis,
    double fairness,
    double minimumRun,
    double budget) {
  /** What the policy uses unless told otherwise. */
  public static final KastorOptions DEFAULT =
      new KastorOptions(2000, 4, 4, true, true, true, 2, 30, 2e7);

  public KastorOptions {
    if (!(hold > 0 && firstReplicas >= 1 && growth > 1 && fairness > 0)) {
      throw new IllegalArgumentException(
          "hold (%s) and fairness (%s) must be above 0, firstReplicas (%d) at least 1, growth (%s) above 1"
              .formatted(hold, fairness, firstReplicas, growth));
    }
    if (!(minimumRun >= 0 && budget >= 0)) {
      throw new IllegalArgumentException(
          "minimumRun (%s) and budget (%s) must not be negative".formatted(minimumRun, budget));
    }
  }
}
