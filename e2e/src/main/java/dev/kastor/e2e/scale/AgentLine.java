package dev.kastor.e2e.scale;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Semaphore;

/**
 * HTTPS to the agent API; like the real agents' it is HTTP/1.1, one connection for each request
 * under way. Idle ones are anybody's, and so many reports at once are enough: a process may not
 * have two for each of ten thousand agents.
 */
final class AgentLine implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int REPORTS_AT_ONCE = 3000;

  private final HttpClient http;
  private final String url;
  private final Semaphore reporting = new Semaphore(REPORTS_AT_ONCE);

  /**
   * A line to one operator.
   *
   * @param authority PEM file of who signed its certificate
   */
  AgentLine(String url, Path authority) throws Exception {
    this.url = url;
    http =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .sslContext(Tls.trusting(authority))
            .build();
  }

  HttpResponse<byte[]> get(String path, String token) throws IOException, InterruptedException {
    return send(request(path, token).GET());
  }

  HttpResponse<byte[]> post(String path, String token, byte[] body)
      throws IOException, InterruptedException {
    reporting.acquire();
    try {
      return send(
          request(path, token)
              .header("Content-Type", "application/json")
              .POST(HttpRequest.BodyPublishers.ofByteArray(body)));
    } finally {
      reporting.release();
    }
  }

  private HttpRequest.Builder request(String path, String token) {
    return HttpRequest.newBuilder(URI.create(url + path))
        .timeout(LIMIT)
        .header("Authorization", "Bearer " + token);
  }

  private HttpResponse<byte[]> send(HttpRequest.Builder request)
      throws IOException, InterruptedException {
    return http.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
  }

  @Override
  public void close() {
    http.shutdownNow();
  }
}
