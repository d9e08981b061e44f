package dev.kastor.scheduler.policy.srtf;

import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.Policy;
import dev.kastor.scheduler.policy.PolicyPlugin;
import dev.kastor.scheduler.policy.PolicyTraits;
import dev.kastor.scheduler.policy.support.FreeSlots;
import dev.kastor.scheduler.policy.support.GangFill;
import dev.kastor.scheduler.policy.support.RemainingTime;
import dev.kastor.scheduler.policy.support.Shortest;
import java.util.List;

/**
 * Shortest remaining time first, with preemption and requested sizes: optimal for mean completion
 * time on one machine (Schrage, Operations Research 16(3), 1968), and a bound to compare with where
 * jobs are gangs.
 *
 * <p>{@link RemainingTime} says how it knows: the truth where there is {@link
 * dev.kastor.scheduler.model.Foresight}, else the declared work and the fitted model. Whoever fits
 * runs, so a short gang that is too large for what is left may be passed by a longer, smaller one.
 */
public final class SrtfPolicy implements Policy {
  /** Plug-in of this policy. */
  public static final PolicyPlugin PLUGIN =
      PolicyPlugin.of(
          "srtf",
          "Shortest remaining time first, with preemption and the sizes that owners "
              + "asked for.",
          PolicyTraits.of(Control.PLACEMENT),
          List.of(),
          (context, options) -> new SrtfPolicy());

  private static final Reason KEPT = Reason.of("Kept", "Is among those that end soonest.");
  private static final Reason STARTED = Reason.of("Started", "Is among those that end soonest.");
  private static final Reason WAITING = Reason.of("Waiting", "Jobs that end sooner took the GPUs.");

  private final RemainingTime remaining = new RemainingTime();

  @Override
  public Plan plan(Snapshot snapshot) {
    GangFill fill = new GangFill(snapshot, new FreeSlots(snapshot.nodes()), KEPT, STARTED);
    Shortest order = new Shortest(remaining.seconds(snapshot));
    while (!order.isEmpty() && !fill.full()) {
      fill.offer(order.next());
    }
    return fill.elseWaiting(WAITING);
  }
}
