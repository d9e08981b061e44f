package dev.kastor.operator.web;

import io.quarkus.vertx.http.runtime.filters.Filters;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.HostAndPort;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.util.Set;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/**
 * Serves the page and its API to whoever reaches the operator's loopback interface, and tells the
 * browser to fetch nothing from elsewhere.
 *
 * <p>On a cluster that is who may {@code kubectl port-forward} to the operator, so Kubernetes' own
 * rules decide. A web site that points its own host name at 127.0.0.1 gets nothing: the request
 * must name the loopback host. Agents' requests and probes pass untouched.
 */
@Singleton
final class PageGuard {
  private static final int BEFORE_ROUTES = 200;
  private static final Set<String> LOOPBACK_HOSTS =
      Set.of("localhost", "127.0.0.1", "::1", "[::1]");

  /** Libraries, whose paths hold their version. */
  private static final String VERSIONED = "/_static/";

  /**
   * No script, style or request from elsewhere, no frame around the page, nothing inline: ECharts
   * draws on a canvas and sets styles through the DOM, which needs no exception.
   */
  private static final String POLICY =
      "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none';"
          + " form-action 'none'; frame-ancestors 'none'";

  private final boolean loopbackOnly;

  PageGuard(
      @ConfigProperty(name = "kastor.web.loopback-only", defaultValue = "true")
          boolean loopbackOnly) {
    this.loopbackOnly = loopbackOnly;
  }

  void register(@Observes Filters filters) {
    filters.register(this::check, BEFORE_ROUTES);
  }

  private void check(RoutingContext context) {
    HttpServerRequest request = context.request();
    if (!isOurs(context.normalizedPath())) {
      context.next();
      return;
    }
    context
        .response()
        .putHeader("Content-Security-Policy", POLICY)
        .putHeader("X-Content-Type-Options", "nosniff")
        .putHeader("Referrer-Policy", "no-referrer")
        .putHeader("Cross-Origin-Resource-Policy", "same-origin");
    if (!context.normalizedPath().startsWith(VERSIONED)) {
      // Set last, because static resources would be kept for a day, through an upgrade too.
      context.addHeadersEndHandler(
          done -> context.response().putHeader("Cache-Control", "no-cache"));
    }
    if (loopbackOnly && !isLoopback(request)) {
      context
          .response()
          .setStatusCode(403)
          .putHeader("Content-Type", "text/plain; charset=utf-8")
          .end(
              "This page answers on the loopback interface only. On a cluster, forward the"
                  + " operator's http port with kubectl port-forward and open it on localhost.\n");
      return;
    }
    context.next();
  }

  private static boolean isOurs(String path) {
    return path.equals("/")
        || path.equals("/index.html")
        || path.equals("/favicon.svg")
        || path.startsWith("/app/")
        || path.startsWith(VERSIONED)
        || path.startsWith("/api/");
  }

  private static boolean isLoopback(HttpServerRequest request) {
    HostAndPort named = request.authority();
    return request.remoteAddress() != null
        && isLoopbackAddress(request.remoteAddress().hostAddress())
        && named != null
        && LOOPBACK_HOSTS.contains(named.host());
  }

  /** The address is numeric already, so nothing is looked up. */
  private static boolean isLoopbackAddress(String numeric) {
    return numeric.startsWith("127.") || numeric.equals("0:0:0:0:0:0:0:1") || numeric.equals("::1");
  }
}
