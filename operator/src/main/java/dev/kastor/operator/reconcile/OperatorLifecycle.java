package dev.kastor.operator.reconcile;

import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.SlotCount;
import dev.kastor.operator.leader.Leadership;
import dev.kastor.operator.membership.MembershipService;
import dev.kastor.operator.metrics.Metrics;
import dev.kastor.scheduler.policy.PolicyFactory;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Life of the process: first comes the cache that all others read, and what decides and writes
 * starts only once this operator leads. One on standby keeps its cache filled.
 */
@Singleton
public final class OperatorLifecycle {
  private static final Logger LOG = LoggerFactory.getLogger(OperatorLifecycle.class);
  private static final int EXIT_FAILED = 1;

  private final ClusterCache cache;
  private final LeaderParts parts;
  private final Metrics metrics;
  private final String version;
  private final PolicyFactory policy;
  private final Leadership leadership;
  private final MembershipService membership;
  private volatile boolean ending;

  public OperatorLifecycle(
      ClusterCache cache,
      LeaderParts parts,
      PolicyFactory policy,
      Leadership leadership,
      MembershipService membership,
      Metrics metrics,
      @ConfigProperty(name = "quarkus.application.version") String version) {
    this.cache = cache;
    this.parts = parts;
    this.metrics = metrics;
    this.version = version;
    this.policy = policy;
    this.leadership = leadership;
    this.membership = membership;
  }

  void start(@Observes StartupEvent event) {
    metrics.built(version, Runtime.version().toString());
    // Named here, a policy or option that does not exist ends a standby too, before it leads.
    LOG.info("policy {}", policy.name());
    if (leadership.contested()) {
      Thread.ofPlatform().daemon().name("election").start(this::stand);
    } else {
      cache.start();
      leadership.take();
      parts.start();
    }
  }

  void stop(@Observes ShutdownEvent event) {
    ending = true;
    parts.stop();
    leadership.resign();
    try {
      // Last, so that who asks again finds the next leader.
      membership.end();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void stand() {
    try {
      cache.start();
      leadership.stand(
          this::leadOrEnd, () -> cache.nodes().stream().filter(SlotCount::usable).toList());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      if (!ending) {
        LOG.error("cannot stand for election", e);
        Runtime.getRuntime().halt(EXIT_FAILED);
      }
    }
  }

  private void leadOrEnd() {
    try {
      parts.start();
    } catch (RuntimeException e) {
      // Half a leader would keep whole ones out.
      LOG.error("cannot lead", e);
      leadership.resign();
      Runtime.getRuntime().halt(EXIT_FAILED);
    }
  }
}
