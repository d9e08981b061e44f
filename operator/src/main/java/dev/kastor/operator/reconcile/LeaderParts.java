package dev.kastor.operator.reconcile;

import dev.kastor.operator.family.FamilyStore;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.NamespaceQuotas;
import dev.kastor.operator.metrics.Metrics;
import dev.kastor.operator.pods.JobPods;
import dev.kastor.operator.pods.ProfileStore;
import dev.kastor.operator.scheduling.LoopDriver;
import dev.kastor.operator.signal.Mandate;
import io.javaoperatorsdk.operator.Operator;
import jakarta.inject.Singleton;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Parts that run only in the operator that leads, with the order in which they start and stop. */
@Singleton
final class LeaderParts {
  private static final Logger LOG = LoggerFactory.getLogger(LeaderParts.class);

  private final ClusterCache cache;
  private final JobPods pods;
  private final Operator operator;
  private final LoopDriver loop;
  private final Housekeeping housekeeping;
  private final FamilyStore families;
  private final ProfileStore profiles;
  private final NamespaceQuotas quotas;
  private final Mandate mandate;
  private final Metrics metrics;

  LeaderParts(
      ClusterCache cache,
      JobPods pods,
      Operator operator,
      LoopDriver loop,
      Housekeeping housekeeping,
      FamilyStore families,
      ProfileStore profiles,
      NamespaceQuotas quotas,
      Mandate mandate,
      Metrics metrics) {
    this.cache = cache;
    this.pods = pods;
    this.operator = operator;
    this.loop = loop;
    this.housekeeping = housekeeping;
    this.families = families;
    this.profiles = profiles;
    this.quotas = quotas;
    this.mandate = mandate;
    this.metrics = metrics;
  }

  /** Starts them; call once the cache is filled. */
  void start() {
    pods.adopt();
    profiles.start();
    quotas.start();
    families.read();
    operator.start();
    metrics.leading(true);
    housekeeping.start();
    loop.start();
    LOG.info("leads with {} jobs on {} nodes", cache.jobs().size(), cache.nodes().size());
  }

  /** Stops what decides and writes. */
  void stop() {
    housekeeping.stop();
    loop.stop();
    if (mandate.leads()) {
      families.write();
    }
  }
}
