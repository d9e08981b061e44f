package dev.kastor.operator.web;

import io.quarkus.vertx.http.runtime.filters.Filters;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonObject;
import io.vertx.core.net.HostAndPort;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.util.Set;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/**
 * Filter of the plain port: it answers on the operator's loopback interface, and tells the browser
 * to fetch nothing from elsewhere.
 *
 * <p>On a cluster that is who may {@code kubectl port-forward} to the operator, so Kubernetes' own
 * rules decide. A web site that points its own host name at 127.0.0.1 gets nothing at all: who
 * comes from the loopback interface must name it. Kubelets and Prometheus come from elsewhere; they
 * reach their own paths and no others. Nor does a page of another site that a browser has open
 * reach what costs the operator work.
 */
@Singleton
final class PageGuard {
  private static final int BEFORE_ROUTES = 200;
  private static final Set<String> LOOPBACK_HOSTS =
      Set.of("localhost", "127.0.0.1", "::1", "[::1]");

  /** What is read from other machines, spelled exactly so. */
  private static final Set<String> FROM_ELSEWHERE =
      Set.of("/metrics", "/q/health", "/q/health/live", "/q/health/ready", "/q/health/started");

  /** Whatever costs is below that. */
  private static final String ROUTES = "/api/";

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
    if (request.isSSL()) {
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
    if (loopbackOnly && !mayAsk(request, context.normalizedPath())) {
      context
          .response()
          .setStatusCode(403)
          .putHeader("Content-Type", "text/plain; charset=utf-8")
          .end(
              "This port answers on the loopback interface only, and to requests that name it. On a"
                  + " cluster, forward the operator's http port with kubectl port-forward and open"
                  + " it on localhost.\n");
      return;
    }
    boolean costs = context.normalizedPath().startsWith(ROUTES);
    if (costs && byAnotherSite(request)) {
      refuse(
          context,
          403,
          "a page of another site asks, and this answers the operator's own page only");
      return;
    }
    if (costs && request.method().equals(HttpMethod.POST) && !isJson(request)) {
      refuse(context, 415, "the body must have the content type application/json");
      return;
    }
    context.next();
  }

  private static void refuse(RoutingContext context, int status, String problem) {
    context
        .response()
        .setStatusCode(status)
        .putHeader("Content-Type", "application/json")
        .end(new JsonObject().put("error", problem).encode());
  }

  /**
   * Whether a browser says that a page of another site asks: in its reader's name that page would
   * make the operator work, even where it may not read the answer.
   */
  private static boolean byAnotherSite(HttpServerRequest request) {
    String site = request.getHeader("Sec-Fetch-Site");
    return site != null && !site.equals("same-origin") && !site.equals("none");
  }

  /** Browsers send any other type, and none at all, for other sites without asking first. */
  private static boolean isJson(HttpServerRequest request) {
    String type = request.getHeader("Content-Type");
    return type != null && type.split(";", 2)[0].strip().equalsIgnoreCase("application/json");
  }

  private static boolean mayAsk(HttpServerRequest request, String path) {
    if (request.remoteAddress() == null) {
      return false;
    }
    HostAndPort named = request.authority();
    return isLoopbackAddress(request.remoteAddress().hostAddress())
        ? named != null && LOOPBACK_HOSTS.contains(named.host())
        : FROM_ELSEWHERE.contains(path);
  }

  /** The address is numeric already, so nothing is looked up. */
  private static boolean isLoopbackAddress(String numeric) {
    return numeric.startsWith("127.") || numeric.equals("0:0:0:0:0:0:0:1") || numeric.equals("::1");
  }
}
