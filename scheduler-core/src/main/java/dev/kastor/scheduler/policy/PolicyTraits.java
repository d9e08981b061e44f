package dev.kastor.scheduler.policy;

import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.model.Learning;
import java.time.Duration;

/**
 * Traits of a policy that hosts act on.
 *
 * @param control what it decides for its jobs; a host leaves the rest as their owners asked
 * @param learning what it wants to know of its jobs where a replay keeps to published rules
 * @param seesGpuTypes whether it looks at GPU types; one that does not takes all GPUs for alike
 * @param uniformNodes whether it gives a job only nodes of one GPU type, price and permanence
 * @param keepsQuotas whether its plans keep the quotas of queues by themselves; those of others are
 *     cut down to them
 * @param randomised whether its plans depend on the seed
 * @param publishedRound time between its decisions in the experiments that published it with GPU
 *     types
 */
public record PolicyTraits(
    Control control,
    Learning learning,
    boolean seesGpuTypes,
    boolean uniformNodes,
    boolean keepsQuotas,
    boolean randomised,
    Duration publishedRound) {
  public PolicyTraits {
    if (!publishedRound.isPositive()) {
      throw new IllegalArgumentException(
          "publishedRound must be positive but is " + publishedRound);
    }
  }

  /**
   * Traits of a policy that takes all GPUs for alike, learns as published simulators do, keeps no
   * quotas by itself, draws nothing at random and was published with rounds of a minute.
   */
  public static PolicyTraits of(Control control) {
    return new PolicyTraits(
        control, Learning.FAITHFUL, false, false, false, false, Duration.ofMinutes(1));
  }

  /** The same of a policy that wants to know this much of its jobs. */
  public PolicyTraits withLearning(Learning wants) {
    return new PolicyTraits(
        control, wants, seesGpuTypes, uniformNodes, keepsQuotas, randomised, publishedRound);
  }

  /** The same of a policy that looks at GPU types. */
  public PolicyTraits withGpuTypes() {
    return new PolicyTraits(
        control, learning, true, uniformNodes, keepsQuotas, randomised, publishedRound);
  }

  /** The same of a policy that gives a job only nodes of one GPU type, price and permanence. */
  public PolicyTraits withUniformNodes() {
    return new PolicyTraits(
        control, learning, seesGpuTypes, true, keepsQuotas, randomised, publishedRound);
  }

  /** The same of a policy whose plans keep quotas. */
  public PolicyTraits withQuotas() {
    return new PolicyTraits(
        control, learning, seesGpuTypes, uniformNodes, true, randomised, publishedRound);
  }

  /** The same of a policy whose plans depend on the seed. */
  public PolicyTraits withRandomness() {
    return new PolicyTraits(
        control, learning, seesGpuTypes, uniformNodes, keepsQuotas, true, publishedRound);
  }

  /** The same of a policy that was published with other rounds. */
  public PolicyTraits withPublishedRound(Duration round) {
    return new PolicyTraits(
        control, learning, seesGpuTypes, uniformNodes, keepsQuotas, randomised, round);
  }
}
