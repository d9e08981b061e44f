package dev.kastor.operator.http;

import dev.kastor.operator.metrics.Metrics;
import io.quarkus.vertx.http.runtime.filters.Filters;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.util.Locale;
import java.util.Set;

/**
 * Filter of requests that two readers could take for two different ones: it refuses them on both
 * ports, before anything else looks at them.
 *
 * <p>None of these is sent by an agent, a browser, a probe or Prometheus. A chunked body would
 * overrule a length given beside it, which is not seen any more by then, so bodies need a length.
 */
@Singleton
final class AmbiguousRequests {
  private static final int BEFORE_ALL_OTHERS = 500;
  private static final int FIRST = Integer.MIN_VALUE;
  private static final String ONE_HOST = "a request must name one host";

  /**
   * Parts of a path that one reader takes for a name and another for a matrix parameter, a
   * separator or an end.
   */
  private static final Set<String> AMBIGUOUS =
      Set.of(";", "%3b", "\\", "%5c", "%2f", "%00", "//", "/./", "/../", "%2e");

  private final Metrics metrics;

  AmbiguousRequests(Metrics metrics) {
    this.metrics = metrics;
  }

  void register(@Observes Filters filters) {
    filters.register(this::check, BEFORE_ALL_OTHERS);
  }

  /** The router itself fails a request that names no host, and would log each as an error. */
  void register(@Observes Router router) {
    router.route().order(FIRST).failureHandler(this::failed);
  }

  private void failed(RoutingContext context) {
    if (context.statusCode() == 400 && context.request().authority() == null) {
      refuse(context, 400, ONE_HOST);
    } else {
      context.next();
    }
  }

  private void check(RoutingContext context) {
    HttpServerRequest request = context.request();
    if (request.headers().getAll(HttpHeaders.HOST).size() != 1) {
      refuse(context, 400, ONE_HOST);
    } else if (!hasOneMeaning(request.uri())) {
      refuse(context, 400, "the target must be a plain path, such as /metrics");
    } else if (request.headers().contains(HttpHeaders.TRANSFER_ENCODING)) {
      refuse(context, 411, "a body must come with a Content-Length and no Transfer-Encoding");
    } else {
      context.next();
    }
  }

  private static boolean hasOneMeaning(String target) {
    int query = target.indexOf('?');
    String path = (query < 0 ? target : target.substring(0, query)).toLowerCase(Locale.ROOT);
    return path.startsWith("/")
        && AMBIGUOUS.stream().noneMatch(path::contains)
        && !path.endsWith("/.")
        && !path.endsWith("/..");
  }

  private void refuse(RoutingContext context, int status, String rule) {
    metrics.refused("form");
    Refusal.end(context, status, rule);
  }
}
