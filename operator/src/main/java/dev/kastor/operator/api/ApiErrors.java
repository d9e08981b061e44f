package dev.kastor.operator.api;

import dev.kastor.operator.metrics.Metrics;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.vertx.core.http.HttpServerRequest;
import jakarta.inject.Singleton;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import org.jboss.resteasy.reactive.server.ServerExceptionMapper;
import org.jboss.resteasy.reactive.server.ServerRequestFilter;
import org.jboss.resteasy.reactive.server.SimpleResourceInfo;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers to refused requests as JSON, and the rule that each resource has its own port. */
@Singleton
public final class ApiErrors {
  private static final Logger LOG = LoggerFactory.getLogger(ApiErrors.class);

  private final Metrics metrics;

  public ApiErrors(Metrics metrics) {
    this.metrics = metrics;
  }

  /**
   * Keeps the agent API on the TLS port, for tokens must not travel in the clear, and all else off
   * it, for all pods reach it; refuses bodies that would have to be unpacked.
   *
   * <p>It goes by what is about to be called: a path has many spellings.
   */
  @ServerRequestFilter
  public Optional<Response> ownPortOnly(SimpleResourceInfo called, HttpServerRequest request) {
    boolean agents = called.getResourceClass() == AgentApi.class;
    if (agents && !request.isSSL()) {
      metrics.refused("plain");
      return Optional.of(error(403, "the agent API is served over HTTPS only"));
    }
    if (!agents) {
      return request.isSSL()
          ? Optional.of(error(404, "this port serves the agent API only"))
          : Optional.empty();
    }
    String encoding = request.getHeader(HttpHeaders.CONTENT_ENCODING);
    if (encoding != null && !encoding.equalsIgnoreCase("identity")) {
      metrics.refused("encoding");
      return Optional.of(error(415, "bodies must not be compressed"));
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

  /** The caller left or was too slow, so nobody reads the answer. */
  @ServerExceptionMapper
  public Response interrupted(IOException e) {
    metrics.refused("broken");
    LOG.debug("a body did not arrive: {}", e.getMessage());
    return error(400, "the body did not arrive");
  }

  private static Response error(int status, String message) {
    Response.ResponseBuilder answer =
        Response.status(status).type(MediaType.APPLICATION_JSON).entity(Map.of("error", message));
    return switch (status) {
      case 401 -> answer.header(HttpHeaders.WWW_AUTHENTICATE, "Bearer").build();
      case 429 -> answer.header(HttpHeaders.RETRY_AFTER, 5).build();
      default -> answer.build();
    };
  }
}
