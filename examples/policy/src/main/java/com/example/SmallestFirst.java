package com.example;

import dev.kastor.plugin.Option;
import dev.kastor.plugin.Options;
import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.Policy;
import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.PolicyPlugin;
import dev.kastor.scheduler.policy.PolicyTraits;
import dev.kastor.scheduler.policy.support.FreeSlots;
import dev.kastor.scheduler.policy.support.GangFill;
import dev.kastor.scheduler.policy.support.Sizes;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/** Smallest job first; a job that has waited for long comes before all that have not. */
public final class SmallestFirst implements PolicyPlugin {
  private static final Option<Double> PATIENCE =
      Option.number("patience", 3600, "seconds after its submission at which a job comes first")
          .where(seconds -> seconds >= 0, "of at least 0");

  private static final Reason KEPT = Reason.of("Kept", "Is among the smallest.");
  private static final Reason STARTED = Reason.of("Started", "Is among the smallest.");
  private static final Reason WAITING = Reason.of("Waiting", "Smaller jobs took the GPUs.");

  @Override
  public String name() {
    return "smallest-first";
  }

  @Override
  public String description() {
    return "Smallest job first, with the sizes that owners asked for.";
  }

  @Override
  public List<Option<?>> options() {
    return List.of(PATIENCE);
  }

  @Override
  public PolicyTraits traits(Options options) {
    return PolicyTraits.of(Control.PLACEMENT);
  }

  @Override
  public Policy create(PolicyContext context, Options options) {
    double patience = options.get(PATIENCE);
    return snapshot -> plan(snapshot, patience);
  }

  private static Plan plan(Snapshot snapshot, double patience) {
    List<JobState> jobs = snapshot.jobs();
    GangFill fill = new GangFill(snapshot, new FreeSlots(snapshot.nodes()), KEPT, STARTED);
    IntStream.range(0, jobs.size())
        .boxed()
        .sorted(
            Comparator.comparing((Integer j) -> jobs.get(j).age().toSeconds() < patience)
                .thenComparing(j -> Sizes.requested(jobs.get(j).spec())))
        .forEach(fill::offer);
    return fill.elseWaiting(WAITING);
  }
}
