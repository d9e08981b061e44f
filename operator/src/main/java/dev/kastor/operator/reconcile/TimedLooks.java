package dev.kastor.operator.reconcile;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.allocation.AllocationWriter;
import dev.kastor.operator.hang.HangWatch;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.mapping.JobMapper;
import dev.kastor.operator.membership.MembershipService;
import dev.kastor.operator.pods.NamedObjects;
import dev.kastor.operator.signal.Mandate;
import jakarta.inject.Singleton;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Checks of jobs for which time alone may have changed something. */
@Singleton
final class TimedLooks {
  private static final int LOOKS_AT_ONCE = 16;

  private final ClusterCache cache;
  private final AllocationWriter allocations;
  private final MembershipService membership;
  private final HangWatch hangs;
  private final NamedObjects named;
  private final JobAttempts attempts;
  private final Mandate mandate;

  TimedLooks(
      ClusterCache cache,
      AllocationWriter allocations,
      MembershipService membership,
      HangWatch hangs,
      NamedObjects named,
      JobAttempts attempts,
      Mandate mandate) {
    this.cache = cache;
    this.allocations = allocations;
    this.membership = membership;
    this.hangs = hangs;
    this.named = named;
    this.attempts = attempts;
    this.mandate = mandate;
  }

  /** Looks at all jobs once. */
  void pass() {
    List<TrainingJob> due = new ArrayList<>();
    for (TrainingJob job : cache.jobs()) {
      if (JobMapper.finished(job)) {
        hangs.forget(job.getMetadata().getUid());
        continue;
      }
      boolean holds = allocations.holds(job);
      if (holds) {
        attempts.run(job, () -> hangs.lookIfDue(job));
      } else {
        hangs.forget(job.getMetadata().getUid());
      }
      if (membershipDue(job) || (holds && !named.ensured(job))) {
        due.add(job);
      }
    }
    // Whatever is due is still due when the lease is renewed.
    if (mandate.mayWrite()) {
      look(due);
    }
  }

  /** Nobody is a member of a gang. */
  private boolean membershipDue(TrainingJob job) {
    return !job.getSpec().gang() && membership.due(job);
  }

  /** Some at a time: most looks wait for the API server. */
  private void look(List<TrainingJob> due) {
    try (ExecutorService threads =
        Executors.newFixedThreadPool(LOOKS_AT_ONCE, Thread.ofVirtual().factory())) {
      for (TrainingJob job : due) {
        threads.execute(() -> {
          if (membershipDue(job)) {
            attempts.run(job, () -> membership.evaluate(job));
          }
          if (allocations.holds(job)) {
            attempts.run(job, () -> named.ensure(job));
          }
        });
      }
    }
  }
}
