package dev.kastor.agent.ring;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Link of a node in one direction: what connectors send through it shares its rate. */
public final class SlowLink implements AutoCloseable {
  private static final double BURST_NANOS = 1e6;

  private final double bytesPerSecond;
  private final List<Closeable> sockets = new ArrayList<>();
  private double freeNanos = System.nanoTime();

  public SlowLink(double bytesPerSecond) {
    this.bytesPerSecond = bytesPerSecond;
  }

  /** An address through which a listener is reached over this link. */
  public synchronized InetSocketAddress to(InetSocketAddress target) throws IOException {
    ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    sockets.add(server);
    Thread.ofVirtual().start(() -> accept(server, target));
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), server.getLocalPort());
  }

  private void accept(ServerSocket server, InetSocketAddress target) {
    try {
      while (true) {
        Socket from = server.accept();
        Socket to = new Socket(target.getAddress(), target.getPort());
        to.setTcpNoDelay(true);
        synchronized (this) {
          sockets.add(from);
          sockets.add(to);
        }
        Thread.ofVirtual().start(() -> pass(from, to, true));
        Thread.ofVirtual().start(() -> pass(to, from, false));
      }
    } catch (IOException e) {
      // Closed.
    }
  }

  private void pass(Socket from, Socket to, boolean slow) {
    byte[] bytes = new byte[1 << 14];
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int got = in.read(bytes); got > 0; got = in.read(bytes)) {
        if (slow) {
          Thread.sleep(Duration.ofNanos(delayNanos(got)));
        }
        out.write(bytes, 0, got);
      }
    } catch (IOException e) {
      // Either end has closed.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized long delayNanos(int bytes) {
    double now = System.nanoTime();
    freeNanos = Math.max(freeNanos, now - BURST_NANOS) + bytes / bytesPerSecond * 1e9;
    return (long) Math.max(0, freeNanos - now);
  }

  @Override
  public synchronized void close() throws IOException {
    for (Closeable socket : sockets) {
      socket.close();
    }
  }
}
