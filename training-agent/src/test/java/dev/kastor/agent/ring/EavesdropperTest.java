package dev.kastor.agent.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Party on the path between replicas that reads nothing and changes nothing unnoticed. */
@Tag("never-retried")
class EavesdropperTest {
  /** Behind the handshake, within the first payload. */
  private static final long WITHIN_PAYLOAD = 400;

  private static final float VALUE = 1234.5f;

  private final Crew crew = new Crew();
  private RingListener first;
  private RingListener second;

  @BeforeEach
  void open() throws IOException {
    first = Crew.listen();
    second = Crew.listen();
  }

  @AfterEach
  void close() throws IOException {
    first.close();
    second.close();
    crew.close();
  }

  /** Members of which the second is reached through the relay. */
  private List<InetSocketAddress> members(Relay relay) {
    return List.of(Crew.address(first), relay.address());
  }

  private List<Future<float[]>> sum(Relay relay) {
    return crew.start(
        2,
        rank -> {
          try (Ring ring =
              Ring.open(
                  rank == 0 ? first : second, 1, rank, members(relay), Crew.LIMITS, () -> false)) {
            float[] data = new float[1000];
            Arrays.fill(data, VALUE);
            ring.allReduce(data);
            ring.allGather(Crew.bytes("a word around the ring"));
            return data;
          }
        });
  }

  private byte[] transfer(Relay relay, byte[] state) throws Exception {
    var sending =
        crew.start(
            1,
            _ -> {
              transfer(first, 0, relay).send(MemorySegment.ofArray(state), List.of(0), List.of(1));
              return true;
            });
    try (Arena arena = Arena.ofShared()) {
      byte[] received =
          transfer(second, 1, relay)
              .receive(state.length, List.of(0), arena)
              .toArray(ValueLayout.JAVA_BYTE);
      sending.getFirst().get();
      return received;
    }
  }

  private StateTransfer transfer(RingListener listener, int rank, Relay relay) {
    return new StateTransfer(listener, 1, rank, members(relay), Crew.LIMITS, () -> false);
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }

  private static String text(float value) {
    return text(ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putFloat(value).array());
  }

  @Test
  void readsNoGradient() throws Exception {
    try (Relay relay = new Relay(Crew.address(second), -1)) {
      for (Future<float[]> sum : sum(relay)) {
        assertThat(sum.get()).containsOnly(2 * VALUE);
      }
      assertThat(relay.seen()).hasSizeGreaterThan(4000);
      assertThat(text(relay.seen()))
          .doesNotContain(text(VALUE))
          .doesNotContain(text(2 * VALUE))
          .doesNotContain("a word around");
    }
  }

  @Test
  void readsNoState() throws Exception {
    byte[] state = Crew.bytes("parameters ".repeat(50_000));
    try (Relay relay = new Relay(Crew.address(second), -1)) {
      assertThat(transfer(relay, state)).isEqualTo(state);
      assertThat(relay.seen()).hasSizeGreaterThan(state.length);
      assertThat(text(relay.seen())).doesNotContain("parameters");
    }
  }

  @Test
  void changesNoGradient() throws Exception {
    try (Relay relay = new Relay(Crew.address(second), WITHIN_PAYLOAD)) {
      assertThatThrownBy(sum(relay).get(1)::get).hasMessageContaining(Seal.FORGED);
    }
  }

  @Test
  void changesNoState() throws Exception {
    byte[] state = Crew.bytes("parameters ".repeat(50_000));
    try (Relay relay = new Relay(Crew.address(second), WITHIN_PAYLOAD)) {
      assertThatThrownBy(() -> transfer(relay, state))
          .isInstanceOf(RingBrokenException.class)
          .hasMessage(Seal.FORGED);
    }
  }
}
