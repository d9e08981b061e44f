package dev.kastor.e2e.scale;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.PemTrustOptions;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * HTTPS to the agent API; like the real agents' it is HTTP/1.1, one connection for each request
 * under way. Idle ones are anybody's, and so many reports at once are enough: a process may not
 * have two for each of ten thousand agents. Nor has it their processors: few may be in a handshake
 * at once, else each takes so long that the operator ends it.
 *
 * <p>All on one thread of its own, with little work for each request: what this costs is taken from
 * the operator, who shares the machine. Callers block, so they should be virtual threads.
 */
public final class AgentLine implements AutoCloseable {
  private static final Duration POLL_LIMIT = Duration.ofSeconds(60);

  /** The limit of the real agent: one report that is lost must not look like a job that hangs. */
  private static final Duration REPORT_LIMIT = Duration.ofSeconds(10);

  /**
   * The client's own limit is for what it waits for; when the operator was killed, requests were
   * seen that it did not know of any more.
   */
  private static final Duration MARGIN = Duration.ofSeconds(5);

  private static final int REPORTS_AT_ONCE = 3000;
  private static final int CONNECTIONS = 30_000;
  private static final int HANDSHAKES_AT_ONCE = 64;

  /** What the operator answered. */
  record Answer(int status, Buffer body) {}

  // On a machine that is busy on purpose, a thread that waits for its turn is no news.
  private final Vertx vertx =
      Vertx.vertx(
          new VertxOptions()
              .setEventLoopPoolSize(1)
              .setWorkerPoolSize(1)
              .setMaxEventLoopExecuteTimeUnit(TimeUnit.SECONDS)
              .setMaxEventLoopExecuteTime(POLL_LIMIT.toSeconds()));
  private final Context loop = vertx.getOrCreateContext();
  private final HttpClient http;
  private final Semaphore reporting = new Semaphore(REPORTS_AT_ONCE);
  private final Semaphore connecting = new Semaphore(HANDSHAKES_AT_ONCE, true);

  /**
   * A line to one operator.
   *
   * @param authority PEM file of who signed its certificate
   */
  AgentLine(URI operator, Path authority) {
    this(
        operator,
        new HttpClientOptions()
            .setTrustOptions(new PemTrustOptions().addCertPath(authority.toString())));
  }

  private AgentLine(URI operator, HttpClientOptions trust) {
    http =
        vertx.createHttpClient(
            trust
                .setDefaultHost(operator.getHost())
                .setDefaultPort(operator.getPort())
                .setProtocolVersion(HttpVersion.HTTP_1_1)
                .setSsl(true),
            new PoolOptions().setHttp1MaxSize(CONNECTIONS));
  }

  /** A line of one who does not care who answers. */
  public static AgentLine toAnyone(URI operator) {
    return new AgentLine(operator, new HttpClientOptions().setTrustAll(true).setVerifyHost(false));
  }

  Answer get(String path, String token) throws IOException, InterruptedException {
    return send(request(HttpMethod.GET, path, token, POLL_LIMIT), null);
  }

  Answer post(String path, String token, byte[] body) throws IOException, InterruptedException {
    reporting.acquire();
    try {
      return send(
          request(HttpMethod.POST, path, token, REPORT_LIMIT)
              .putHeader("Content-Type", "application/json"),
          Buffer.buffer(body));
    } finally {
      reporting.release();
    }
  }

  private static RequestOptions request(
      HttpMethod method, String path, String token, Duration limit) {
    return new RequestOptions()
        .setMethod(method)
        .setURI(path)
        .setTimeout(limit.toMillis())
        .putHeader("Authorization", "Bearer " + token);
  }

  private Answer send(RequestOptions options, @Nullable Buffer body)
      throws IOException, InterruptedException {
    connecting.acquire();
    Exchange exchange = new Exchange(options, body);
    loop.runOnContext(any -> exchange.begin());
    try {
      return exchange.answer.get(options.getTimeout() + MARGIN.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      throw new IOException(cause.getClass().getSimpleName(), cause);
    } catch (TimeoutException e) {
      loop.runOnContext(any -> exchange.forget());
      throw new IOException("forgotten", e);
    } catch (InterruptedException e) {
      loop.runOnContext(any -> exchange.forget());
      throw e;
    }
  }

  /**
   * A request and its answer. All that it does is done by the one thread: where those who ask did
   * it themselves, the client's pool was seen to lose a few in ten thousand.
   */
  private final class Exchange {
    final CompletableFuture<Answer> answer = new CompletableFuture<>();
    private final RequestOptions options;
    private final @Nullable Buffer body;
    private @Nullable HttpClientRequest sent;
    private boolean over;

    Exchange(RequestOptions options, @Nullable Buffer body) {
      this.options = options;
      this.body = body;
    }

    void begin() {
      Future<HttpClientRequest> connected;
      try {
        connected = http.request(options);
      } catch (IllegalStateException e) {
        connected = Future.failedFuture(e);
      }
      connected
          .onComplete(any -> connecting.release())
          .compose(this::send)
          .compose(response -> response.body().map(said -> new Answer(response.statusCode(), said)))
          .onSuccess(answer::complete)
          .onFailure(answer::completeExceptionally);
    }

    private Future<HttpClientResponse> send(HttpClientRequest request) {
      if (over) {
        // A poll that nobody waits for would end the one that its replica makes now.
        request.reset();
        return Future.failedFuture("nobody waits for it");
      }
      sent = request;
      return body == null ? request.send() : request.send(body);
    }

    void forget() {
      over = true;
      if (sent != null) {
        sent.reset();
      }
    }
  }

  @Override
  public void close() {
    vertx.close();
  }
}
