package dev.kastor.agent.operator;

import dev.kastor.scheduler.model.JobId;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;

/**
 * The agent API of the operator for one job.
 *
 * <p>Trusts only the CA in the given file, as it is at each handshake. The token is read from its
 * file for each request, as the kubelet replaces it before it expires. Thread-safe.
 */
public final class OperatorConnection implements AutoCloseable {
  private static final Duration CONNECT_LIMIT = Duration.ofSeconds(3);
  private static final String TERM = "Kastor-Term";
  private static final int MAX_ERROR_CHARS = 300;

  private final URI job;
  private final Path tokenFile;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final HttpClient http;

  /**
   * @param operator {@code https://host:port}
   * @param caFile PEM of the CA that signed the operator's certificate
   */
  public OperatorConnection(URI operator, JobId job, Path tokenFile, Path caFile)
      throws IOException {
    this.job = operator.resolve("/v1/jobs/" + job.namespace() + "/" + job.name() + "/");
    this.tokenFile = tokenFile;
    this.http =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(CONNECT_LIMIT)
            .sslContext(trusting(caFile))
            .executor(threads)
            .build();
  }

  /** Starts a GET of {@code resource} under the job; cancelling the future ends the request. */
  public CompletableFuture<HttpResponse<byte[]>> get(String resource, Duration limit)
      throws IOException {
    return http.sendAsync(
        request(resource, limit).GET().build(), HttpResponse.BodyHandlers.ofByteArray());
  }

  /**
   * Posts JSON and waits for the answer; an error status is thrown.
   *
   * @return the {@code Kastor-Term} of who answered; empty if it did not say
   */
  public String post(String resource, byte[] json, Duration limit)
      throws IOException, InterruptedException {
    HttpRequest request =
        request(resource, limit)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofByteArray(json))
            .build();
    HttpResponse<byte[]> answer = http.send(request, HttpResponse.BodyHandlers.ofByteArray());
    body(answer);
    return answer.headers().firstValue(TERM).orElse("");
  }

  /** The body of a successful answer. */
  public static byte[] body(HttpResponse<byte[]> response) throws OperatorException {
    int status = response.statusCode();
    if (status / 100 == 2) {
      return response.body();
    }
    String text = new String(response.body(), StandardCharsets.UTF_8);
    throw new OperatorException(
        status,
        "the operator answered %d: %s"
            .formatted(status, text.substring(0, Math.min(text.length(), MAX_ERROR_CHARS))));
  }

  /** The answer of {@link #get}, with failures as checked exceptions. */
  public static byte[] await(CompletableFuture<HttpResponse<byte[]>> answer)
      throws IOException, InterruptedException {
    try {
      return body(answer.get());
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      throw new IOException(
          cause == null || cause.getMessage() == null ? String.valueOf(cause) : cause.getMessage(),
          cause);
    }
  }

  private HttpRequest.Builder request(String resource, Duration limit) throws IOException {
    String token = Files.readString(tokenFile).strip();
    return HttpRequest.newBuilder(job.resolve(resource))
        .timeout(limit)
        .header("Authorization", "Bearer " + token)
        .header("Accept", "application/json");
  }

  private static SSLContext trusting(Path caFile) throws IOException {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, new TrustManager[] {new AuthorityFile(caFile)}, null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IOException("cannot use the CA certificate in " + caFile, e);
    }
  }

  @Override
  public void close() {
    http.shutdownNow();
    http.close();
    threads.shutdownNow();
  }
}
