package dev.kastor.operator.http;

import dev.kastor.operator.metrics.Metrics;
import io.quarkus.vertx.http.runtime.filters.Filters;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.util.regex.Pattern;

/**
 * Filter of the TLS port, which all pods reach: only the addresses of the agent API go on to the
 * routes.
 *
 * <p>The page's files, probes and whatever an extension serves are routes without a resource class
 * to go by. So this names what is let in, not what is kept out; the resource that is called is then
 * checked by its class ({@link dev.kastor.operator.api.ApiErrors}).
 */
@Singleton
final class AgentPort {
  private static final int BEFORE_LEADERSHIP = 400;
  private static final Pattern AGENT_API =
      Pattern.compile("/v1/jobs/[^/]{1,400}/[^/]{1,400}/[a-z]{1,20}");

  private final Metrics metrics;

  AgentPort(Metrics metrics) {
    this.metrics = metrics;
  }

  void register(@Observes Filters filters) {
    filters.register(this::check, BEFORE_LEADERSHIP);
  }

  private void check(RoutingContext context) {
    if (context.request().isSSL() && !AGENT_API.matcher(context.normalizedPath()).matches()) {
      metrics.refused("port");
      Refusal.end(context, 404, "this port serves the agent API only");
      return;
    }
    context.next();
  }
}
