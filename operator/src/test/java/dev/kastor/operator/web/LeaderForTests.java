package dev.kastor.operator.web;

import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.leader.Leadership;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** Leads where a test has left out the part that would, so that page and client work. */
@Singleton
final class LeaderForTests {
  private final ClusterCache cache;
  private final Leadership leadership;
  private final boolean leads;

  LeaderForTests(
      ClusterCache cache,
      Leadership leadership,
      @ConfigProperty(name = "kastor.test.leads", defaultValue = "false") boolean leads) {
    this.cache = cache;
    this.leadership = leadership;
    this.leads = leads;
  }

  void start(@Observes StartupEvent event) {
    if (leads) {
      cache.start();
      leadership.take();
    }
  }
}
