package dev.kastor.scheduler.policy.kastor;

import dev.kastor.scheduler.Learning;
import java.util.function.Consumer;

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
 * @param jobHourValue what an hour of one job's waiting is worth, in the currency of the nodes'
 *     prices; infinite where money only decides between what is else equal
 * @param interruptionsPerDay how often a preemptible node is expected to be taken away in a day
 * @param budget most steps of the exact solver, a nanosecond or so each; 0 to go by prices alone
 * @param learning what it wants to be told of what reports teach
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
    double jobHourValue,
    double interruptionsPerDay,
    double budget,
    Learning learning) {
  /** What the policy uses unless told otherwise. */
  public static final KastorOptions DEFAULT =
      new KastorOptions(
          2000, 4, 4, true, true, true, 2, 10, Double.POSITIVE_INFINITY, 1, 2e7, Learning.FULL);

  public KastorOptions {
    if (!(hold > 0 && firstReplicas >= 1 && growth > 1 && fairness > 0)) {
      throw new IllegalArgumentException(
          "hold (%s) and fairness (%s) must be above 0, firstReplicas (%d) at least 1, growth (%s) above 1"
              .formatted(hold, fairness, firstReplicas, growth));
    }
    if (!(jobHourValue > 0 && interruptionsPerDay >= 0 && interruptionsPerDay <= 1440)) {
      throw new IllegalArgumentException(
          "jobHourValue (%s) must be above 0 and interruptionsPerDay (%s) from 0 to 1440"
              .formatted(jobHourValue, interruptionsPerDay));
    }
    if (!(minimumRun >= 0 && budget >= 0)) {
      throw new IllegalArgumentException(
          "minimumRun (%s) and budget (%s) must not be negative".formatted(minimumRun, budget));
    }
  }

  /** The same with another time to hold. */
  public KastorOptions withHold(double seconds) {
    return with(knobs -> knobs.hold = seconds);
  }

  /** The same with another bound on what a job begins with. */
  public KastorOptions withFirstReplicas(int most) {
    return with(knobs -> knobs.firstReplicas = most);
  }

  /** The same with another bound on growth. */
  public KastorOptions withGrowth(double times) {
    return with(knobs -> knobs.growth = times);
  }

  /** The same with jobs that count only those who outlast them, or all. */
  public KastorOptions withRanking(boolean ranks) {
    return with(knobs -> knobs.ranking = ranks);
  }

  /** The same with jobs of different worth, or not. */
  public KastorOptions withPricing(boolean prices) {
    return with(knobs -> knobs.pricing = prices);
  }

  /** The same with changes that have to earn their pause, or not. */
  public KastorOptions withHysteresis(boolean earns) {
    return with(knobs -> knobs.hysteresis = earns);
  }

  /** The same with another bound on unfairness. */
  public KastorOptions withFairness(double bound) {
    return with(knobs -> knobs.fairness = bound);
  }

  /** The same with another worth of an hour of waiting. */
  public KastorOptions withJobHourValue(double money) {
    return with(knobs -> knobs.jobHourValue = money);
  }

  /** The same with another life of preemptible nodes. */
  public KastorOptions withInterruptionsPerDay(double times) {
    return with(knobs -> knobs.interruptionsPerDay = times);
  }

  /** The same with another effort of the exact solver. */
  public KastorOptions withBudget(double steps) {
    return with(knobs -> knobs.budget = steps);
  }

  /** The same with other lessons from reports. */
  public KastorOptions withLearning(Learning teaches) {
    return with(knobs -> knobs.learning = teaches);
  }

  private KastorOptions with(Consumer<Knobs> change) {
    Knobs knobs = new Knobs(this);
    change.accept(knobs);
    return knobs.options();
  }

  /** All knobs while one is turned; the one place besides the record that names them all. */
  private static final class Knobs {
    double hold;
    int firstReplicas;
    double growth;
    boolean ranking;
    boolean pricing;
    boolean hysteresis;
    double fairness;
    double minimumRun;
    double jobHourValue;
    double interruptionsPerDay;
    double budget;
    Learning learning;

    Knobs(KastorOptions from) {
      hold = from.hold;
      firstReplicas = from.firstReplicas;
      growth = from.growth;
      ranking = from.ranking;
      pricing = from.pricing;
      hysteresis = from.hysteresis;
      fairness = from.fairness;
      minimumRun = from.minimumRun;
      jobHourValue = from.jobHourValue;
      interruptionsPerDay = from.interruptionsPerDay;
      budget = from.budget;
      learning = from.learning;
    }

    KastorOptions options() {
      return new KastorOptions(
          hold,
          firstReplicas,
          growth,
          ranking,
          pricing,
          hysteresis,
          fairness,
          minimumRun,
          jobHourValue,
          interruptionsPerDay,
          budget,
          learning);
    }
  }
}
