package dev.kastor.operator.api;

import dev.kastor.operator.Metrics;
import io.quarkus.vertx.http.runtime.filters.Filters;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Ends connections whose bodies drip in: an idle time alone would let one byte now and then hold a
 * connection for ever.
 */
@Singleton
final class SlowBodies {
  /** The largest body is a second's worth at 64 KiB/s. */
  static final Duration LIMIT = Duration.ofSeconds(10);

  private static final int BEFORE_ROUTES = 300;
  private static final Set<HttpMethod> BODILESS = Set.of(HttpMethod.GET, HttpMethod.HEAD);

  private final Vertx vertx;
  private final Metrics metrics;

  SlowBodies(Vertx vertx, Metrics metrics) {
    this.vertx = vertx;
    this.metrics = metrics;
  }

  void register(@Observes Filters filters) {
    filters.register(this::limit, BEFORE_ROUTES);
  }

  private void limit(RoutingContext context) {
    HttpServerRequest request = context.request();
    if (!BODILESS.contains(request.method()) && !request.isEnded()) {
      // Its connection holds a request that is not done; one that is must not be kept for a timer.
      WeakReference<HttpServerRequest> limited = new WeakReference<>(request);
      vertx.setTimer(LIMIT.toMillis(), id -> endIfUnfinished(limited.get()));
    }
    context.next();
  }

  private void endIfUnfinished(@Nullable HttpServerRequest request) {
    if (request != null && !request.isEnded()) {
      metrics.refused("slow");
      var _ = request.connection().close();
    }
  }
}
