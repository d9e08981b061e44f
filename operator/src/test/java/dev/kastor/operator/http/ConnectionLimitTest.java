package dev.kastor.operator.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.Channel;
import io.netty.channel.embedded.EmbeddedChannel;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpServerRequest;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("never-retried")
class ConnectionLimitTest {
  private static final long SMALL_HEAP = 64 << 20;
  private static final long LIMIT_NANOS = OpenConnection.LIMIT.toNanos();

  private final AtomicLong now = new AtomicLong();
  private final ConnectionLimit limit = new ConnectionLimit(SMALL_HEAP);
  private final List<Channel> channels = new ArrayList<>();

  @Tag("slow")
  @Test
  void strangersTogetherTakeASmallPartOfTheHeap() {
    for (int i = 0; i < 10_000; i++) {
      limit.admit(from("10.0.%d.%d".formatted(i / 250, i % 250)));
    }
    assertThat(limit.most()).isEqualTo(512);
    assertThat(channels.stream().filter(Channel::isOpen)).hasSize(512);
  }

  @Tag("slow")
  @Test
  void oneAddressLeavesRoomForOthers() {
    OpenConnection victim = from("10.0.0.1");
    limit.admit(victim);
    for (int i = 0; i < 10_000; i++) {
      limit.admit(from("10.0.0.66"));
    }
    assertThat(channels.getFirst().isOpen()).isTrue();
    assertThat(channels.stream().filter(Channel::isOpen)).hasSize(1 + limit.most() / 2);
  }

  @Test
  void theOldestEndsForANewOne() {
    for (int i = 0; i < limit.most() / 2; i++) {
      assertThat(limit.admit(from("10.0.0.1"))).isEqualTo(new ConnectionLimit.Admission(true, 0));
    }
    assertThat(limit.admit(from("10.0.0.1"))).isEqualTo(new ConnectionLimit.Admission(true, 1));
    assertThat(channels.getFirst().isOpen()).isFalse();
    assertThat(channels.get(1).isOpen()).isTrue();
  }

  @Tag("slow")
  @Test
  void oneWithAGoodTokenIsHeldUpByNoStranger() {
    OpenConnection replica = from("10.0.0.66");
    limit.admit(replica);
    limit.vouch(replica, "pod team/a-0");
    for (int i = 0; i < 10_000; i++) {
      limit.admit(from("10.0.0.66"));
    }
    assertThat(channels.getFirst().isOpen()).isTrue();
  }

  @Test
  void aGoodTokenHoldsFewConnections() {
    for (int i = 0; i < 1_000; i++) {
      OpenConnection connection = from("10.0.0.1");
      limit.admit(connection);
      limit.vouch(connection, "pod team/a-0");
      limit.vouch(connection, "pod team/a-0");
    }
    assertThat(channels.stream().filter(Channel::isOpen)).hasSize(ConnectionLimit.OF_OWNER);
  }

  @Test
  void aRequestMustBeWholeInTimeHoweverItDrips() {
    OpenConnection slow = from("10.0.0.1");
    limit.admit(slow);
    EmbeddedChannel channel = (EmbeddedChannel) channels.getFirst();
    for (int i = 0; i < 10; i++) {
      now.addAndGet(LIMIT_NANOS / 10);
      channel.writeInbound(i);
      assertThat(limit.endLate()).isZero();
    }
    now.addAndGet(1);
    assertThat(limit.endLate()).isOne();
    assertThat(channel.isOpen()).isFalse();
  }

  /** The answer to a question may take half a minute, and its request is paused meanwhile. */
  @Test
  void aRequestWhoseBodyWasReadIsAnsweredForAsLongAsItTakes() {
    OpenConnection asks = from("10.0.0.1");
    limit.admit(asks);
    AtomicLong read = new AtomicLong(5);
    asks.begin(paused(20, read));
    now.addAndGet(LIMIT_NANOS);
    assertThat(limit.endLate()).isZero();
    read.set(20);
    now.addAndGet(10 * LIMIT_NANOS);
    assertThat(limit.endLate()).isZero();
  }

  @Test
  void aBodyMustBeWholeInTime() {
    OpenConnection asks = from("10.0.0.1");
    limit.admit(asks);
    asks.begin(paused(20, new AtomicLong(19)));
    now.addAndGet(LIMIT_NANOS + 1);
    assertThat(limit.endLate()).isOne();
  }

  /** A request that says that it has not ended. */
  private static HttpServerRequest paused(long length, AtomicLong read) {
    MultiMap headers =
        MultiMap.caseInsensitiveMultiMap().add("Content-Length", Long.toString(length));
    return (HttpServerRequest)
        Proxy.newProxyInstance(
            HttpServerRequest.class.getClassLoader(),
            new Class<?>[] {HttpServerRequest.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "headers" -> headers;
                  case "isEnded" -> false;
                  case "bytesRead" -> read.get();
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }

  private OpenConnection from(String address) {
    EmbeddedChannel channel = new From(address);
    OpenConnection connection = new OpenConnection(channel, loop -> now::get);
    channel.pipeline().addLast(connection);
    channel.closeFuture().addListener(closed -> limit.remove(connection));
    channels.add(channel);
    return connection;
  }

  /** A channel with addresses. */
  private static final class From extends EmbeddedChannel {
    private final InetSocketAddress address;

    From(String address) {
      this.address = new InetSocketAddress(address, 1);
    }

    @Override
    protected SocketAddress remoteAddress0() {
      return address;
    }

    @Override
    protected SocketAddress localAddress0() {
      return new InetSocketAddress("10.1.1.1", 8443);
    }
  }
}
