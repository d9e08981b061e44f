package dev.kastor.local.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Requests that never end, beside a watch that is meant to last. */
final class SlowRequestIT {
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  @TempDir Path folder;

  @Test
  void requestsThatDoNotEndAreCutOffAndWatchesAreNot() throws Exception {
    try (ApiServer server = ApiServer.start(0, (namespace, pod) -> folder.resolve(pod))) {
      String token = "Authorization: Bearer " + server.tokens().admin() + "\r\n";
      Socket watch =
          open(server, "GET /api/v1/pods?watch=1 HTTP/1.1\r\nHost: localhost\r\n" + token + "\r\n");
      List<Socket> slow = new ArrayList<>();
      slow.add(open(server, "GET /api/v1/pods HTTP/1.1\r\nHost: loc"));
      slow.add(
          open(
              server,
              "POST /api/v1/namespaces/default/pods HTTP/1.1\r\nHost: localhost\r\n"
                  + token
                  + "Content-Length: 100\r\n\r\n{"));
      for (Socket socket : slow) {
        assertThat(ends(socket)).isTrue();
      }
      assertThat(new String(watch.getInputStream().readNBytes(12), StandardCharsets.US_ASCII))
          .isEqualTo("HTTP/1.1 200");
      watch.setSoTimeout(100);
      assertThat(stillOpen(watch)).isTrue();
      watch.close();
    }
  }

  private static Socket open(ApiServer server, String start) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.uri().getPort());
    socket.getOutputStream().write(start.getBytes(StandardCharsets.US_ASCII));
    return socket;
  }

  private static boolean ends(Socket socket) throws IOException {
    socket.setSoTimeout(Math.toIntExact(PATIENCE.toMillis()));
    try (socket) {
      while (socket.getInputStream().read() >= 0) {
        // An answer that says why is welcome.
      }
      return true;
    } catch (SocketException e) {
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private static boolean stillOpen(Socket socket) throws IOException {
    try {
      while (socket.getInputStream().read() >= 0) {
        // Headers and bookmarks.
      }
      return false;
    } catch (SocketTimeoutException e) {
      return true;
    }
  }
}
