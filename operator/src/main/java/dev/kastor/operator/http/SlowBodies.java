package dev.kastor.operator.http;

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
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Ends connections whose bodies drip in: an idle time alone would let one byte now and then hold a
 * connection for ever.
 *
 * <p>One look a second at the requests that are not all there yet, in place of a timer for each: a
 * timer keeps what its request was for until it rings, and two thousand reports a second would have
 * twenty thousand of them.
 */
@Singleton
final class SlowBodies {
  /** The largest body is a second's worth at 64 KiB/s. */
  static final Duration LIMIT = Duration.ofSeconds(10);

  private static final Duration LOOK = Duration.ofSeconds(1);
  private static final int BEFORE_ROUTES = 300;
  private static final Set<HttpMethod> BODILESS = Set.of(HttpMethod.GET, HttpMethod.HEAD);

  /** One whose request is done must not keep it. */
  private static final class Awaited extends WeakReference<HttpServerRequest> {
    private final long since = System.nanoTime();

    Awaited(HttpServerRequest request) {
      super(request);
    }

    boolean isLate() {
      return System.nanoTime() - since > LIMIT.toNanos();
    }
  }

  private final Queue<Awaited> awaited = new ConcurrentLinkedQueue<>();
  private final Vertx vertx;
  private final Metrics metrics;

  SlowBodies(Vertx vertx, Metrics metrics) {
    this.vertx = vertx;
    this.metrics = metrics;
  }

  void register(@Observes Filters filters) {
    filters.register(this::limit, BEFORE_ROUTES);
    vertx.setPeriodic(LOOK.toMillis(), id -> awaited.removeIf(this::isSettled));
  }

  private void limit(RoutingContext context) {
    HttpServerRequest request = context.request();
    if (!BODILESS.contains(request.method()) && !request.isEnded()) {
      awaited.add(new Awaited(request));
    }
    context.next();
  }

  private boolean isSettled(Awaited body) {
    HttpServerRequest request = body.get();
    if (request == null || request.isEnded()) {
      return true;
    }
    if (body.isLate()) {
      metrics.refused("slow");
      var _ = request.connection().close();
      return true;
    }
    return false;
  }
}
