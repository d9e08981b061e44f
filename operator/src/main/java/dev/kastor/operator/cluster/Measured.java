package dev.kastor.operator.cluster;

import dev.kastor.protocol.Progress;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.Outlook;
import java.time.Duration;
import java.util.Optional;

/**
 * What a job's replicas told us, as far as a policy may use it.
 *
 * @param model fitted from the reports
 * @param maxProfiledReplicas most replicas it was measured with
 * @param progress newest
 * @param rescaleCost median pause of its live changes, or an assumption
 * @param restartCost pause of a change after which nothing runs where it ran: at least {@link
 *     #ASSUMED_RESTART}
 * @param outlook what its family's past says of its future
 */
public record Measured(
    Optional<GoodputModel> model,
    int maxProfiledReplicas,
    Optional<Progress> progress,
    Duration rescaleCost,
    Duration restartCost,
    Outlook outlook) {
  /** Assumed pause of a live change before one was measured. */
  public static final Duration ASSUMED_COST = Duration.ofSeconds(2);

  /** Assumed time from a pod's start to its first step: image, runtime, data, checkpoint. */
  public static final Duration ASSUMED_RESTART = Duration.ofSeconds(15);

  /** Nothing was heard yet. */
  public static final Measured NOTHING =
      new Measured(
          Optional.empty(), 0, Optional.empty(), ASSUMED_COST, ASSUMED_RESTART, Outlook.NONE);
}
