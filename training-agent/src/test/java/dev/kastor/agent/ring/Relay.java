package dev.kastor.agent.ring;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

/**
 * Somebody on the path to a listener: passes on what connectors send, keeps a copy of it, and may
 * flip a bit of it or cut the connection.
 */
public final class Relay implements AutoCloseable {
  private final ServerSocket server;
  private final InetSocketAddress target;
  private final long flippedByte;
  private final long mostBytes;
  private final List<Socket> sockets = new ArrayList<>();
  private final ByteArrayOutputStream seen = new ByteArrayOutputStream();
  private long longest;

  /**
   * @param flippedByte index of the byte of each connection of which a bit is flipped; -1 for none
   */
  Relay(InetSocketAddress target, long flippedByte) throws IOException {
    this(target, flippedByte, Long.MAX_VALUE);
  }

  private Relay(InetSocketAddress target, long flippedByte, long mostBytes) throws IOException {
    this.target = target;
    this.flippedByte = flippedByte;
    this.mostBytes = mostBytes;
    server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::accept);
  }

  /** A relay that changes nothing and cuts each connection after some bytes of its connector. */
  public static Relay cutting(InetSocketAddress target, long mostBytes) throws IOException {
    return new Relay(target, -1, mostBytes);
  }

  /** Address of this relay. */
  public InetSocketAddress address() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), server.getLocalPort());
  }

  /** All that connectors sent so far. */
  public synchronized byte[] seen() {
    return seen.toByteArray();
  }

  /** Most bytes that a connector sent over one connection. */
  public synchronized long longest() {
    return longest;
  }

  private void accept() {
    try {
      while (true) {
        Socket from = server.accept();
        Socket to = new Socket(target.getAddress(), target.getPort());
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

  private void pass(Socket from, Socket to, boolean watched) {
    byte[] bytes = new byte[1 << 16];
    long passed = 0;
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int got = in.read(bytes); got > 0; got = in.read(bytes)) {
        if (watched) {
          if (flippedByte >= passed && flippedByte < passed + got) {
            bytes[(int) (flippedByte - passed)] ^= 1;
          }
          synchronized (this) {
            seen.write(bytes, 0, got);
            longest = Math.max(longest, passed + got);
          }
        }
        int left = watched ? (int) Math.min(got, mostBytes - passed) : got;
        out.write(bytes, 0, left);
        passed += left;
        if (left < got) {
          return;
        }
      }
    } catch (IOException e) {
      // Either end has closed.
    }
  }

  @Override
  public synchronized void close() throws IOException {
    server.close();
    for (Socket socket : sockets) {
      socket.close();
    }
  }
}
