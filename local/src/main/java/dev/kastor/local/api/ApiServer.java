package dev.kastor.local.api;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Predicate;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The embedded API server on the loopback interface, every request with the bearer token of {@link
 * #tokens()}. kubectl sends a token over TLS alone.
 */
public final class ApiServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ApiServer.class);

  static {
    HttpSettings.apply();
  }

  private final Resources resources = new Resources();
  private final Tokens tokens = new Tokens();
  private final Readiness readiness = new Readiness();
  private final Discovery discovery = new Discovery(resources);
  private final OpenApi openApi = new OpenApi(resources);
  private final ResourceHandler handler;
  private final HttpServer http;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  private @Nullable Journal journal;

  private ApiServer(HttpServer http, PodLogs logs) {
    this.http = http;
    this.handler = new ResourceHandler(resources, logs);
  }

  /**
   * Starts a server of plain HTTP with the namespace {@code default}.
   *
   * @param port its port; 0 for any free one
   */
  public static ApiServer start(int port, PodLogs logs) throws IOException {
    return start(HttpServer.create(loopback(port), 0), logs);
  }

  /**
   * The same over TLS.
   *
   * @param tls has the key and the certificate of 127.0.0.1
   */
  public static ApiServer start(int port, PodLogs logs, SSLContext tls) throws IOException {
    HttpsServer http = HttpsServer.create(loopback(port), 0);
    http.setHttpsConfigurator(new HttpsConfigurator(tls));
    return start(http, logs);
  }

  private static InetSocketAddress loopback(int port) throws IOException {
    InetAddress loopback = InetAddress.getByAddress("localhost", new byte[] {127, 0, 0, 1});
    return new InetSocketAddress(loopback, port);
  }

  private static ApiServer start(HttpServer http, PodLogs logs) {
    ApiServer server = new ApiServer(http, logs);
    for (String namespace : new String[] {"default", "kube-system"}) {
      ObjectNode object = Json.object();
      Json.metadata(object).put("name", namespace);
      server.resources.create(ResourceTypes.NAMESPACE, "", object, Options.PLAIN);
    }
    http.setExecutor(server.threads);
    http.createContext("/", server::handle);
    http.start();
    return server;
  }

  /** Where clients reach it. */
  public URI uri() {
    String scheme = http instanceof HttpsServer ? "https" : "http";
    return URI.create(scheme + "://127.0.0.1:" + http.getAddress().getPort());
  }

  public Resources resources() {
    return resources;
  }

  /** What must be well for the server to call itself ready. */
  public Readiness readiness() {
    return readiness;
  }

  public Tokens tokens() {
    return tokens;
  }

  /**
   * Brings back what a journal holds of the types that the server knows, and keeps them in it from
   * now on. Call it once, after the CRDs are defined and before clients come.
   *
   * @param kept the types to keep
   */
  public void persist(Path file, Predicate<ResourceType> kept) throws IOException {
    Journal opened =
        new Journal(
            file,
            kept,
            object ->
                resources
                    .types()
                    .of(object)
                    .filter(kept)
                    .ifPresent(type -> resources.store().restore(type, object)));
    resources.store().keepIn(opened::append);
    journal = opened;
    readiness.add("journal", () -> resources.store().atomically(opened::failure));
    resources.collectOrphans(kept);
  }

  /** Registers a CRD given as YAML or JSON. */
  public void define(InputStream crd) throws IOException {
    ObjectNode object = (ObjectNode) Patch.parse(crd.readAllBytes());
    resources.create(ResourceTypes.CRD, "", object, Options.PLAIN);
  }

  @Override
  public void close() {
    resources.store().close();
    http.stop(0);
    threads.shutdownNow();
    threads.close();
    try {
      if (journal != null) {
        journal.close();
      }
    } catch (IOException e) {
      LOG.error("the journal cannot be closed: {}", e.getMessage());
    }
  }

  private void handle(HttpExchange httpExchange) {
    Exchange exchange = new Exchange(httpExchange);
    try {
      try {
        authorize(exchange);
        dispatch(exchange);
      } catch (ApiException e) {
        exchange.answer(e.code(), e.status());
      } catch (RuntimeException e) {
        LOG.error("{} {} failed", exchange.method(), exchange.path(), e);
        ApiException failure =
            ApiException.of(500, "InternalError", String.valueOf(e.getMessage()));
        exchange.answer(500, failure.status());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IOException e) {
      LOG.debug("{} {}: the client left: {}", exchange.method(), exchange.path(), e.getMessage());
    } finally {
      httpExchange.close();
    }
  }

  private void authorize(Exchange exchange) {
    String token = exchange.bearer();
    if (token != null && tokens.isAdmin(token)) {
      return;
    }
    if (token != null && tokens.isPod(token)) {
      throw ApiException.of(403, "Forbidden", "pods may not use the API of the local server");
    }
    throw ApiException.of(401, "Unauthorized", "Unauthorized");
  }

  private void dispatch(Exchange exchange) throws IOException, InterruptedException {
    String path = exchange.path();
    if (path.equals("/readyz")) {
      Readiness.Answer answer = readiness.look(exchange.query().is("verbose"));
      exchange.answer(
          answer.ready() ? 200 : 500, "text/plain", answer.text().getBytes(StandardCharsets.UTF_8));
      return;
    }
    if (path.equals("/healthz") || path.equals("/livez")) {
      exchange.answer(200, "text/plain", "ok".getBytes(StandardCharsets.UTF_8));
      return;
    }
    if (exchange.method().equals("POST") && path.startsWith("/apis/auth")) {
      exchange.answer(201, review(path, exchange.object()));
      return;
    }
    Optional<Route> route = Route.of(path, resources.types());
    if (route.isPresent()) {
      handler.handle(route.get(), exchange);
      return;
    }
    Optional<ObjectNode> document = discovery.answer(path).or(() -> openApi.answer(path));
    if (document.isEmpty()) {
      throw ApiException.of(
          404, "NotFound", "the server could not find the requested resource " + path);
    }
    exchange.answer(200, document.get());
  }

  private ObjectNode review(String path, ObjectNode body) {
    return switch (path) {
      case "/apis/authentication.k8s.io/v1/tokenreviews" -> tokens.review(body);
      case "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews" -> {
        // Only the administrator gets this far.
        ObjectNode answer = body.deepCopy();
        answer.putObject("status").put("allowed", true);
        yield answer;
      }
      default ->
          throw ApiException.of(
              404, "NotFound", "the server could not find the requested resource " + path);
    };
  }
}
