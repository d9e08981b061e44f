package dev.kastor.e2e.scale;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import javax.net.SocketFactory;

/**
 * Stands between the operator and the API server and refuses a share of the requests: some with 429
 * and some with 500. Watches that are up are left alone.
 *
 * <p>A request is refused before any of it is passed on, and clients of HTTP/1.1 send one after the
 * other, so no answers get mixed up. One virtual thread for each direction of a connection.
 */
final class FaultyLine implements AutoCloseable {
  private static final int LONGEST_HEAD = 64 * 1024;

  private final ServerSocket entry;
  private final URI server;
  private final SocketFactory connections;
  private final RandomGenerator random;
  private volatile double share;
  private final AtomicLong refused = new AtomicLong();

  /**
   * A line that refuses nothing yet.
   *
   * @param connections trusts the API server's authority
   */
  FaultyLine(URI server, SocketFactory connections, RandomGenerator random) throws IOException {
    this.server = server;
    this.connections = connections;
    this.random = random;
    entry = new ServerSocket(0, 128, InetAddress.getLoopbackAddress());
    var _ = Thread.ofVirtual().name("faulty-line").start(this::accept);
  }

  String url() {
    return "http://127.0.0.1:" + entry.getLocalPort();
  }

  /** From now on this share of the requests is refused. */
  void refuse(double shareOfRequests) {
    share = shareOfRequests;
  }

  /** Requests refused so far. */
  long refused() {
    return refused.get();
  }

  @Override
  public void close() throws IOException {
    entry.close();
  }

  private void accept() {
    try {
      while (true) {
        Socket client = entry.accept();
        var _ = Thread.ofVirtual().start(() -> serve(client));
      }
    } catch (IOException e) {
      // Closed: the run is over.
    }
  }

  private void serve(Socket client) {
    try (client;
        Socket upstream = connections.createSocket(server.getHost(), server.getPort())) {
      var _ = Thread.ofVirtual().start(() -> answers(upstream, client));
      requests(
          new BufferedInputStream(client.getInputStream()),
          client.getOutputStream(),
          upstream.getOutputStream());
    } catch (IOException e) {
      // Either end went away, as both may at any time; the other notices by the closed connection.
    }
  }

  private static void answers(Socket upstream, Socket client) {
    try (upstream;
        client) {
      upstream.getInputStream().transferTo(client.getOutputStream());
    } catch (IOException e) {
      // As above.
    }
  }

  private void requests(InputStream in, OutputStream out, OutputStream up) throws IOException {
    for (String head = head(in); !head.isEmpty(); head = head(in)) {
      long length = length(head);
      boolean tunnel = head.toLowerCase(Locale.ROOT).contains("upgrade: websocket");
      if (!tunnel && random.nextDouble() < share) {
        in.skipNBytes(length);
        out.write(refusal().getBytes(StandardCharsets.US_ASCII));
        out.flush();
        continue;
      }
      up.write(head.getBytes(StandardCharsets.ISO_8859_1));
      up.write(in.readNBytes(Math.toIntExact(length)));
      up.flush();
      if (tunnel) {
        in.transferTo(up);
        return;
      }
    }
  }

  private String refusal() {
    refused.incrementAndGet();
    return "HTTP/1.1 "
        + (random.nextBoolean() ? "429 Too Many Requests" : "500 Internal Server Error")
        + "\r\nContent-Length: 0\r\n\r\n";
  }

  /** Everything up to the empty line, with it; empty at the end of the connection. */
  private static String head(InputStream in) throws IOException {
    ByteArrayOutputStream head = new ByteArrayOutputStream();
    int ends = 0;
    while (ends < 4) {
      int next = in.read();
      if (next < 0 || head.size() > LONGEST_HEAD) {
        return "";
      }
      head.write(next);
      ends = next == (ends % 2 == 0 ? '\r' : '\n') ? ends + 1 : 0;
    }
    return head.toString(StandardCharsets.ISO_8859_1);
  }

  private static long length(String head) throws IOException {
    for (String line : head.split("\r\n", -1)) {
      String lower = line.toLowerCase(Locale.ROOT);
      if (lower.startsWith("content-length:")) {
        return Long.parseLong(lower.substring("content-length:".length()).strip());
      }
      if (lower.startsWith("transfer-encoding:")) {
        throw new IOException("the operator's requests have a length, but this one is chunked");
      }
    }
    return 0;
  }
}
