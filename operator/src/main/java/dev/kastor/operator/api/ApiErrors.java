package dev.kastor.operator.api;

import dev.kastor.operator.Metrics;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.vertx.ext.web.RoutingContext;
import jakarta.inject.Singleton;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.Map;
import java.util.Optional;
import org.jboss.resteasy.reactive.server.ServerExceptionMapper;
import org.jboss.resteasy.reactive.server.ServerRequestFilter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Turns refusals into JSON and keeps the agent API off the plain port. */
@Singleton
public final class ApiErrors {
  private static final Logger LOG = LoggerFactory.getLogger(ApiErrors.class);

  private final Metrics metrics;

  public ApiErrors(Metrics metrics) {
    this.metrics = metrics;
  }

  /** Refuses agents on the plain port: their tokens must not travel in the clear. */
  @ServerRequestFilter
  public Optional<Response> secureOnly(RoutingContext request) {
    if (request.normalizedPath().startsWith("/v1/") && !request.request().isSSL()) {
      metrics.refused("plain");
      return Optional.of(error(403, "the agent API is served over HTTPS only"));
    }
    return Optional.empty();
  }

  /** A request that was refused. */
  @ServerExceptionMapper
  public Response refused(ApiException e) {
    metrics.refused(e.reason());
    LOG.debug("refused: {} {}", e.status(), e.getMessage());
    return error(e.status(), String.valueOf(e.getMessage()));
  }

  /** The API server is not there: the agent should try again. */
  @ServerExceptionMapper
  public Response unavailable(KubernetesClientException e) {
    metrics.refused("unavailable");
    LOG.warn("the API server did not answer: {}", e.getMessage());
    return error(503, "the API server did not answer");
  }

  private static Response error(int status, String message) {
    return Response.status(status)
        .type(MediaType.APPLICATION_JSON)
        .entity(Map.of("error", message))
        .build();
  }
}
