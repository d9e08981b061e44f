package dev.kastor.operator;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** Requests to the plain port; paths go out as they are written. */
final class PlainHttp {
  private PlainHttp() {}

  /** The status of a GET. */
  static int get(URI base, String path) throws IOException {
    try (Socket socket = new Socket(base.getHost(), base.getPort())) {
      socket.setSoTimeout(600_000);
      socket
          .getOutputStream()
          .write(
              "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                  .formatted(path)
                  .getBytes(ISO_8859_1));
      String answer = new String(socket.getInputStream().readAllBytes(), ISO_8859_1);
      return Integer.parseInt(answer.split(" ", 3)[1]);
    }
  }

  /** The body of a GET. */
  static String text(URI base, String path) throws IOException, InterruptedException {
    // As Prometheus asks. An offer to go on with HTTP/2 has been seen to lose the answer.
    return HttpClient.newBuilder()
        .version(HttpClient.Version.HTTP_1_1)
        .build()
        .send(
            HttpRequest.newBuilder(base.resolve(path)).build(),
            HttpResponse.BodyHandlers.ofString())
        .body();
  }

  /** A metric without labels; 0 if there is none of this name. */
  static double metric(URI base, String name) {
    try {
      return text(base, "/metrics")
          .lines()
          .filter(line -> line.startsWith(name + " "))
          .mapToDouble(line -> Double.parseDouble(line.split(" ", -1)[1]))
          .sum();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }
}
