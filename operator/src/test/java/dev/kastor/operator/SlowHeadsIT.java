package dev.kastor.operator;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.common.http.TestHTTPResource;
import io.quarkus.test.junit.QuarkusTest;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;

/** Thousands of connections whose heads never end. */
// As in the operator's other tests.
@NullUnmarked
@QuarkusTest
@QuarkusTestResource(FakeApiServer.class)
class SlowHeadsIT {
  private static final int ADDRESSES = 5;
  private static final int EACH = 1_000;
  private static final byte[] HEAD =
      ("GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: " + "x".repeat(7_000)).getBytes(ISO_8859_1);

  @TestHTTPResource("/")
  URI plain;

  @Test
  void takeASmallPartOfTheHeapAndEndInTime() throws Exception {
    assertThat(PlainHttp.get(plain, "/metrics")).isEqualTo(200);
    long before = FuzzIT.heap();
    List<Socket> slow = new ArrayList<>();
    try {
      for (int address = 1; address <= ADDRESSES; address++) {
        attack(InetAddress.getByName("127.0.1." + address), slow);
        assertThat(PlainHttp.get(plain, "/metrics")).as("meanwhile").isEqualTo(200);
      }
      long taken = FuzzIT.heap() - before;
      System.out.printf(
          "%d connections with heads of %d bytes took %.1f MB%n",
          slow.size(), HEAD.length, taken / 1e6);
      assertThat(taken).isLessThan(Runtime.getRuntime().maxMemory() / 6);
      LoneReplica.await("all are ended", () -> slow.stream().allMatch(SlowHeadsIT::isEnded));
    } finally {
      for (Socket socket : slow) {
        socket.close();
      }
    }
    assertThat(PlainHttp.get(plain, "/metrics")).isEqualTo(200);
  }

  private void attack(InetAddress from, List<Socket> slow) throws IOException {
    for (int i = 0; i < EACH; i++) {
      Socket socket = new Socket();
      slow.add(socket);
      socket.bind(new InetSocketAddress(from, 0));
      socket.connect(new InetSocketAddress(plain.getHost(), plain.getPort()));
      socket.getOutputStream().write(HEAD);
    }
  }

  private static boolean isEnded(Socket socket) {
    try {
      socket.setSoTimeout(1);
      return socket.getInputStream().read() < 0;
    } catch (java.net.SocketTimeoutException e) {
      return false;
    } catch (IOException e) {
      return true;
    }
  }
}
