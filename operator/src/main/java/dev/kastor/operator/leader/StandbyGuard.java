package dev.kastor.operator.leader;

import dev.kastor.operator.signal.Mandate;
import io.quarkus.vertx.http.runtime.filters.Filters;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;

/**
 * Lets only the leader answer: what others say of jobs would be wrong.
 *
 * <p>The connection is closed with the answer, so that the next try goes through the Service again
 * and comes to the leader. Probes and metrics are everybody's own.
 */
@Singleton
final class StandbyGuard {
  private static final int BEFORE_ALL_OTHERS = 300;

  /** Tells agents that another leads than the one they spoke to, which has to be told more. */
  private static final String TERM = "Kastor-Term";

  private final Mandate mandate;

  StandbyGuard(Mandate mandate) {
    this.mandate = mandate;
  }

  void register(@Observes Filters filters) {
    filters.register(this::check, BEFORE_ALL_OTHERS);
  }

  private void check(RoutingContext context) {
    String path = context.normalizedPath();
    if (mandate.leads() && path.startsWith("/v1/")) {
      context.response().putHeader(TERM, mandate.term());
    }
    if (mandate.leads() || path.startsWith("/q/") || path.equals("/metrics")) {
      context.next();
      return;
    }
    HttpServerRequest request = context.request();
    if (request.version() != HttpVersion.HTTP_2) {
      context.response().putHeader("Connection", "close");
    }
    context
        .response()
        .setStatusCode(503)
        .putHeader("Retry-After", "1")
        .putHeader("Content-Type", "application/json")
        .end("{\"error\":\"this operator stands by; ask the one that leads\"}")
        .onComplete(sent -> request.connection().close());
  }
}
