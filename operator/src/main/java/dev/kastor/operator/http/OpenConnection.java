package dev.kastor.operator.http;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.impl.ConnectionBase;
import java.lang.ref.WeakReference;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Connection of a client, first in its pipeline: it sees when bytes come, encrypted or not, and is
 * told of each request once its head is whole.
 */
final class OpenConnection extends ChannelInboundHandlerAdapter {
  /** The largest body is a second's worth at 64 KiB/s; a handshake and a head are less. */
  static final Duration LIMIT = Duration.ofSeconds(10);

  private static final String OLD_WEB_SOCKET = "Sec-WebSocket-Key1";

  private final Channel channel;
  private final Function<EventLoop, ? extends LongSupplier> clocks;
  private final String address;

  /** The newest request, empty while its head comes. One that is done must not be kept. */
  private volatile Optional<WeakReference<HttpServerRequest>> request = Optional.empty();

  private volatile boolean body;

  private volatile long length;

  /** That of its event loop; null until it has one. */
  private volatile @Nullable LongSupplier clock;

  private volatile long begun;
  private volatile boolean served;
  private volatile boolean ending;

  /**
   * A connection that was just accepted.
   *
   * @param clocks the clock of an event loop, in nanoseconds
   */
  OpenConnection(Channel channel, Function<EventLoop, ? extends LongSupplier> clocks) {
    this.channel = channel;
    this.clocks = clocks;
    address =
        channel.remoteAddress() instanceof InetSocketAddress from
                && channel.localAddress() instanceof InetSocketAddress to
            ? from.getAddress().getHostAddress() + " to " + to.getPort()
            : "";
  }

  /** The connection that a request came over; null in a server without a gate. */
  static @Nullable OpenConnection of(HttpServerRequest request) {
    return request.connection() instanceof ConnectionBase connection
        ? connection.channel().pipeline().get(OpenConnection.class)
        : null;
  }

  /** Where it comes from, and to which port. */
  String address() {
    return address;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    LongSupplier own = clocks.apply(context.channel().eventLoop());
    begun = own.getAsLong();
    clock = own;
  }

  /** The head of a request is whole; its body may still have to come. */
  void begin(HttpServerRequest headed) {
    begun = now();
    body = hasBody(headed.headers());
    length = length(headed.headers());
    request = Optional.of(new WeakReference<>(headed));
    served = true;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object bytes) {
    if (isWhole()) {
      // The first bytes of the next request.
      request = Optional.empty();
      begun = now();
    }
    context.fireChannelRead(bytes);
  }

  /**
   * Whether a request, or the first one, has been awaited for too long. It may wait for the lock of
   * the HTTP connection, under which connections are closed.
   */
  boolean isLate() {
    return clock != null && !isWhole() && now() - begun > LIMIT.toNanos();
  }

  /** No request of it is looked at any more: one within the body of another would be. */
  void refuse() {
    ending = true;
  }

  boolean isEnding() {
    return ending;
  }

  /** The newest request is answered, or nobody waits for its answer any more. */
  void answered() {
    served = false;
  }

  /** Whether a request is being answered. It takes no lock: who asks may hold one. */
  boolean isServed() {
    return served;
  }

  void end() {
    var _ = channel.close();
  }

  private long now() {
    LongSupplier own = clock;
    return own == null ? 0 : own.getAsLong();
  }

  private boolean isWhole() {
    Optional<WeakReference<HttpServerRequest>> newest = request;
    HttpServerRequest headed = newest.map(WeakReference::get).orElse(null);
    if (headed == null || !body) {
      // One without a body may be paused, and say that it has not ended, for as long as it is
      // answered: a stream for hours.
      return newest.isPresent();
    }
    // One that is paused while it is answered says that it has not ended, though all was read.
    return headed.isEnded() || (length >= 0 && headed.bytesRead() >= length);
  }

  /** Bytes of the body; -1 where no header tells. */
  private static long length(MultiMap headers) {
    String length = headers.get(HttpHeaders.CONTENT_LENGTH);
    try {
      return length == null ? -1 : Long.parseLong(length);
    } catch (NumberFormatException e) {
      // Refused elsewhere.
      return -1;
    }
  }

  /** Requests of the oldest WebSockets have a body that no header tells of. */
  private static boolean hasBody(MultiMap headers) {
    String length = headers.get(HttpHeaders.CONTENT_LENGTH);
    return headers.contains(OLD_WEB_SOCKET)
        || headers.contains(HttpHeaders.TRANSFER_ENCODING)
        || (length != null && !"0".equals(length));
  }
}
