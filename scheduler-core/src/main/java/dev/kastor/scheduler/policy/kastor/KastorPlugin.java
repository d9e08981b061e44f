package dev.kastor.scheduler.policy.kastor;

import dev.kastor.plugin.Option;
import dev.kastor.plugin.Options;
import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.model.Learning;
import dev.kastor.scheduler.plan.Policy;
import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.PolicyPlugin;
import dev.kastor.scheduler.policy.PolicyTraits;
import java.util.List;

/** Plug-in of Kastor's own policy and its options, several of which turn one of its ideas off. */
public final class KastorPlugin implements PolicyPlugin {
  /** Its name in the registry. */
  public static final String NAME = "kastor";

  /**
   * The best interval between checkpoints is the geometric mean of the time between failures and
   * the cost of one (Young, CACM 1974); so is the time for which an allocation is expected to stay,
   * with changes of the cluster for failures and the pause for the cost.
   */
  static final Option<Double> HOLD =
      Option.number(
              "hold",
              2000,
              "seconds over which a cluster changes: an allocation is expected to stay for the"
                  + " geometric mean of this and its pause, and a pause is worth taking if the gain"
                  + " of that time exceeds it")
          .where(value -> value > 0, "above 0");

  static final Option<Integer> FIRST_REPLICAS =
      Option.count("firstReplicas", 4, "most replicas of a job that was never measured")
          .where(value -> value >= 1, "of at least 1");

  static final Option<Double> GROWTH =
      Option.number("growth", 4, "most replicas are this many times the most ever measured")
          .where(value -> value > 1, "above 1");

  static final Option<Boolean> RANKING =
      Option.flag(
          "ranking",
          true,
          "whether a job counts only the jobs that outlast it as those it delays; else all");

  static final Option<Boolean> PRICING =
      Option.flag(
          "pricing",
          true,
          "whether jobs are worth what the GPU time they take is worth to others; else all the"
              + " same");

  static final Option<Boolean> HYSTERESIS =
      Option.flag("hysteresis", true, "whether a change has to earn its pause");

  static final Option<Double> FAIRNESS =
      Option.number(
              "fairness",
              2,
              "finish-time fairness beyond which the worth of a job grows with its square, so that"
                  + " the job cannot go on without GPUs; infinity for never")
          .where(value -> value > 0, "above 0");

  static final Option<Double> MINIMUM_RUN =
      Option.number("minimumRun", 10, "seconds for which a job keeps at least what it was given")
          .where(value -> value >= 0, "of at least 0");

  static final Option<Integer> MOVES_PER_NODE =
      Option.count(
              "movesPerNode",
              8,
              "most moves of running jobs in any hour that make room for larger ones, for each"
                  + " node of the cluster; 0 for none")
          .where(value -> value >= 0, "of at least 0");

  static final Option<Double> JOB_HOUR_VALUE =
      Option.number(
              "jobHourValue",
              Double.POSITIVE_INFINITY,
              "what an hour of the waiting of one job is worth, in the currency of the prices of"
                  + " nodes; infinity where money only decides between what is else equal")
          .where(value -> value > 0, "above 0");

  static final Option<Double> INTERRUPTIONS_PER_DAY =
      Option.number(
              "interruptionsPerDay",
              1,
              "how often a preemptible node is expected to be taken away in a day")
          .where(value -> value >= 0 && value <= 1440, "from 0 to 1440");

  static final Option<Double> BUDGET =
      Option.number(
              "budget",
              2e7,
              "most steps of the exact solver, of about a nanosecond each; 0 to go by prices alone")
          .where(value -> value >= 0, "of at least 0");

  static final Option<Learning> LEARNING =
      Option.choice(
          "learning",
          Learning.class,
          Learning.FULL,
          "what it wants to know of what reports teach: full for remembered families and layouts"
              + " that were observed beside the fit, faithful for one fit for each job as in"
              + " published simulators");

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String description() {
    return "Kastor's own: GPUs have a price, and each job gets what is worth more than it costs.";
  }

  @Override
  public List<Option<?>> options() {
    return List.of(
        HOLD,
        FIRST_REPLICAS,
        GROWTH,
        RANKING,
        PRICING,
        HYSTERESIS,
        FAIRNESS,
        MINIMUM_RUN,
        MOVES_PER_NODE,
        JOB_HOUR_VALUE,
        INTERRUPTIONS_PER_DAY,
        BUDGET,
        LEARNING);
  }

  @Override
  public PolicyTraits traits(Options options) {
    return PolicyTraits.of(Control.SIZE_AND_BATCH)
        .withLearning(options.get(LEARNING))
        .withGpuTypes()
        .withUniformNodes()
        .withQuotas();
  }

  @Override
  public Policy create(PolicyContext context, Options options) {
    return new KastorPolicy(options);
  }
}
