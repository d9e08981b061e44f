package dev.kastor.operator.api;

import dev.kastor.operator.kube.ClusterCache;
import jakarta.inject.Singleton;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Readiness;

/**
 * Ready once the cluster's first lists are in: before that every answer would be a guess.
 *
 * <p>It stays so while watches are down, which {@code watching} says: agents that report must still
 * reach the operator while the API server is away.
 */
@Readiness
@Singleton
public final class CacheReady implements HealthCheck {
  private final ClusterCache cache;

  public CacheReady(ClusterCache cache) {
    this.cache = cache;
  }

  @Override
  public HealthCheckResponse call() {
    return HealthCheckResponse.named("cluster cache")
        .status(cache.synced())
        .withData("watching", cache.watching())
        .build();
  }
}
