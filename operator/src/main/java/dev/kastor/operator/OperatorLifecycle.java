package dev.kastor.operator;

import dev.kastor.operator.cluster.ClusterCache;
import dev.kastor.operator.cluster.LoopDriver;
import dev.kastor.operator.family.FamilyStore;
import io.javaoperatorsdk.operator.Operator;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts the parts in order: first the cache that all others read. */
@Singleton
public final class OperatorLifecycle {
  private static final Logger LOG = LoggerFactory.getLogger(OperatorLifecycle.class);

  private final ClusterCache cache;
  private final Operator operator;
  private final LoopDriver loop;
  private final Housekeeping housekeeping;
  private final FamilyStore families;
  private final Metrics metrics;
  private final String version;

  public OperatorLifecycle(
      ClusterCache cache,
      Operator operator,
      LoopDriver loop,
      Housekeeping housekeeping,
      FamilyStore families,
      Metrics metrics,
      @ConfigProperty(name = "quarkus.application.version") String version) {
    this.cache = cache;
    this.operator = operator;
    this.loop = loop;
    this.housekeeping = housekeeping;
    this.families = families;
    this.metrics = metrics;
    this.version = version;
  }

  void stop(@Observes ShutdownEvent event) {
    families.write();
  }

  void start(@Observes StartupEvent event) {
    metrics.built(version, Runtime.version().toString());
    cache.start();
    families.read();
    operator.start();
    metrics.leading(true);
    loop.start();
    housekeeping.start();
    LOG.info("started with {} jobs on {} nodes", cache.jobs().size(), cache.nodes().size());
  }
}
