package dev.kastor.local;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;

/** Ports of the loopback interface that nobody listens on. */
final class FreePort {
  private FreePort() {}

  /** The wanted port if it is free, else any other; {@code wanted} 0 means any. */
  static int near(int wanted) throws IOException {
    InetAddress loopback = InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(new InetSocketAddress(loopback, wanted));
      return socket.getLocalPort();
    } catch (IOException e) {
      if (wanted == 0) {
        throw e;
      }
      return near(0);
    }
  }
}
