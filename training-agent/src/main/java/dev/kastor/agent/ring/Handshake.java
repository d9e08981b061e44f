package dev.kastor.agent.ring;

import dev.kastor.agent.ring.RingKey.Side;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.function.LongPredicate;

/**
 * Mutual authentication of a new connection.
 *
 * <p>Connector: hello with its nonce. Acceptor: its nonce. Connector: HMAC-SHA256 over (side,
 * hello, acceptor's nonce). Acceptor, once that is right: the same for its own side. The hello
 * carries generation and both ranks, so a replica of an old generation cannot pass as one of a
 * newer. Both nonces and the hello give the connection its key.
 */
final class Handshake {
  private static final int CODE_BYTES = 32;
  private static final SecureRandom RANDOM = new SecureRandom();

  private Handshake() {}

  /**
   * Authenticates a connection that we opened; throws if the other side is not who it should be.
   */
  static Connection connect(
      SocketChannel channel, RingKey key, Hello.Key connection, Duration limit) throws IOException {
    Deadline deadline = new Deadline(channel.socket(), limit);
    Hello hello =
        new Hello(
            connection.purpose(),
            key.cipher(),
            key.job(),
            connection.generation(),
            connection.from(),
            connection.to());
    byte[] bytes = hello.encode(nonce());
    OutputStream out = channel.socket().getOutputStream();
    out.write(ByteBuffer.allocate(4 + bytes.length).putInt(bytes.length).put(bytes).array());
    byte[] acceptorNonce = deadline.read(Hello.NONCE_BYTES);
    out.write(key.code(Side.CONNECTOR, bytes, acceptorNonce));
    byte[] code = deadline.read(CODE_BYTES);
    if (!MessageDigest.isEqual(code, key.code(Side.ACCEPTOR, bytes, acceptorNonce))) {
      throw new IOException("the acceptor does not hold the ring secret");
    }
    deadline.lift();
    return new Connection(channel, Seal.sending(key.cipher(), key.traffic(bytes, acceptorNonce)));
  }

  /**
   * Authenticates a connection that we accepted. It waits for its taker before its connector hears
   * that it is good, so that a connector whose call returned has replaced what it left before.
   *
   * @param current whether a generation is not outdated
   * @param offer takes the connection
   */
  static void accept(
      SocketChannel channel, RingKey key, LongPredicate current, RingLimits limits, Offer offer)
      throws IOException {
    Deadline first = new Deadline(channel.socket(), limits.hello());
    int length = ByteBuffer.wrap(first.read(4)).getInt();
    if (length < 0 || length > Hello.MAX_BYTES) {
      throw new IOException(
          "hello of %d bytes; at most %d are accepted".formatted(length, Hello.MAX_BYTES));
    }
    byte[] bytes = first.read(length);
    Deadline deadline = new Deadline(channel.socket(), limits.handshake());
    Hello hello = Hello.decode(bytes);
    if (!hello.job().equals(key.job())) {
      throw new IOException("it belongs to another job");
    }
    byte[] acceptorNonce = nonce();
    OutputStream out = channel.socket().getOutputStream();
    out.write(acceptorNonce);
    byte[] code = deadline.read(CODE_BYTES);
    if (!MessageDigest.isEqual(code, key.code(Side.CONNECTOR, bytes, acceptorNonce))) {
      throw new IOException("it does not hold the ring secret");
    }
    if (!current.test(hello.generation())) {
      throw new IOException("its generation %d is outdated".formatted(hello.generation()));
    }
    deadline.lift();
    Seal seal = Seal.receiving(hello.cipher(), key.traffic(bytes, acceptorNonce));
    offer.to(hello.key(), new Connection(channel, seal));
    out.write(key.code(Side.ACCEPTOR, bytes, acceptorNonce));
  }

  /** Takes a connection that another replica opened. */
  @FunctionalInterface
  interface Offer {
    void to(Hello.Key key, Connection connection) throws IOException;
  }

  private static byte[] nonce() {
    byte[] nonce = new byte[Hello.NONCE_BYTES];
    RANDOM.nextBytes(nonce);
    return nonce;
  }

  /** Reads whole fields within one time limit for all of them. */
  private static final class Deadline {
    private final Socket socket;
    private final Duration limit;
    private final long end;

    Deadline(Socket socket, Duration limit) {
      this.socket = socket;
      this.limit = limit;
      this.end = System.nanoTime() + limit.toNanos();
    }

    byte[] read(int length) throws IOException {
      InputStream in = socket.getInputStream();
      byte[] bytes = new byte[length];
      int have = 0;
      while (have < length) {
        long leftMillis = (end - System.nanoTime()) / 1_000_000;
        if (leftMillis <= 0) {
          throw new SocketTimeoutException("no handshake within " + limit);
        }
        socket.setSoTimeout((int) Math.min(leftMillis, Integer.MAX_VALUE));
        int got = in.read(bytes, have, length - have);
        if (got < 0) {
          throw new EOFException(
              "closed during the handshake, by a replica with another secret, in a newer generation"
                  + " or of another version of Kastor, or by a stranger");
        }
        have += got;
      }
      return bytes;
    }

    void lift() throws IOException {
      socket.setSoTimeout(0);
    }
  }
}
