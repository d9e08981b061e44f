package dev.kastor.agent.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whoever is no replica of the generation is turned away, and the ring carries on. */
@Tag("slow")
@Tag("never-retried")
class StrangersTest {
  private final Crew crew = new Crew();
  private final List<RingListener> listeners = new ArrayList<>();
  private List<Ring> rings = List.of();

  @BeforeEach
  void open() throws Exception {
    listeners.add(Crew.listen());
    listeners.add(Crew.listen());
    rings = crew.rings(listeners, 7, Crew.LIMITS);
    listeners.forEach(listener -> listener.refuseBelow(7));
  }

  @AfterEach
  void close() throws Exception {
    rings.forEach(Ring::close);
    for (RingListener listener : listeners) {
      listener.close();
    }
    crew.close();
  }

  private void ringStillWorks() throws Exception {
    List<float[]> sums =
        crew.together(
            2,
            rank -> {
              float[] data = {rank + 1};
              rings.get(rank).allReduce(data);
              return data;
            });
    assertThat(sums.get(0)).containsExactly(3);
    assertThat(sums.get(1)).containsExactly(3);
  }

  private void connect(RingKey key, long generation) throws IOException {
    try (SocketChannel channel = SocketChannel.open(Crew.address(listeners.getFirst()))) {
      Handshake.connect(
          channel,
          key,
          new Hello.Key(Hello.Purpose.RING, generation, 1, 0),
          Crew.LIMITS.handshake());
    }
  }

  @Test
  void refusesAWrongSecret() throws Exception {
    RingKey wrong = Crew.key("team/job", "another secret that is also long enough");
    assertThatThrownBy(() -> connect(wrong, 7)).isInstanceOf(IOException.class);
    ringStillWorks();
  }

  @Test
  void refusesAnotherJobWithTheSameSecret() throws Exception {
    RingKey other = Crew.key("team/other", "a secret of the job, 32 bytes long");
    assertThatThrownBy(() -> connect(other, 7)).isInstanceOf(IOException.class);
    ringStillWorks();
  }

  @Test
  void refusesAnOldGenerationThatHoldsTheSecret() throws Exception {
    assertThatThrownBy(() -> connect(Crew.KEY, 6)).isInstanceOf(IOException.class);
    connect(Crew.KEY, 8);
    ringStillWorks();
  }

  @Test
  void tellsAReplicaOfAnotherVersionSo() {
    byte[] hello =
        new Hello(Hello.Purpose.RING, RingCipher.AES_GCM, "team/job", 7, 1, 0)
            .encode(new byte[Hello.NONCE_BYTES]);
    hello[7] = '2';
    assertThatThrownBy(() -> Hello.decode(hello))
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll("version 02", "version 04", "suspend the job");
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 0, 3, 513, Integer.MAX_VALUE})
  void refusesHellosOfImpossibleLength(int length) throws Exception {
    assertRefused(ByteBuffer.allocate(64).putInt(length).array());
    ringStillWorks();
  }

  @Test
  void refusesGarbage() throws Exception {
    assertRefused(Crew.bytes("GET / HTTP/1.1\r\nHost: ring\r\n\r\n".repeat(40)));
    byte[] hello =
        new Hello(Hello.Purpose.RING, RingCipher.AES_GCM, "team/job", 7, 1, 0)
            .encode(new byte[Hello.NONCE_BYTES]);
    hello[8] = 99;
    assertRefused(ByteBuffer.allocate(4 + hello.length).putInt(hello.length).put(hello).array());
    ringStillWorks();
  }

  @Test
  void dropsAConnectionThatSaysNothingInTime() throws Exception {
    RingLimits hasty =
        Crew.limits(Crew.LIMITS.silence(), Duration.ofMillis(100), Crew.LIMITS.connect());
    try (RingListener listener =
            RingListener.open(Crew.KEY, hasty, Crew.address(listeners.getFirst()).getAddress());
        Socket idle = new Socket(Crew.address(listener).getAddress(), listener.port())) {
      assertThat(idle.getInputStream().read()).isEqualTo(-1);
    }
  }

  /** From the members' own address too, as of processes on one machine. */
  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.1", "127.0.0.2"})
  void membersGetInWhileStrangersHoldEveryPlace(String from) throws Exception {
    RingLimits patient =
        Crew.limits(Crew.LIMITS.silence(), Duration.ofHours(1), Crew.LIMITS.connect());
    List<RingListener> besieged = new ArrayList<>();
    List<Socket> strangers = new ArrayList<>();
    try {
      for (int i = 0; i < 3; i++) {
        RingListener listener =
            RingListener.open(Crew.KEY, patient, InetAddress.getLoopbackAddress());
        besieged.add(listener);
        for (int each = 0; each < 140; each++) {
          Socket stranger = new Socket();
          strangers.add(stranger);
          stranger.bind(new InetSocketAddress(from, 0));
          stranger.connect(Crew.address(listener));
          stranger.getOutputStream().write(new byte[2]);
        }
      }
      crew.rings(besieged, 8, patient).forEach(Ring::close);
    } finally {
      for (Socket stranger : strangers) {
        stranger.close();
      }
      for (RingListener listener : besieged) {
        listener.close();
      }
    }
  }

  /** It answers all that a member does, by another secret or by what it was sent. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void refusesAnAcceptorWithoutTheSecret(boolean sendsBack) throws Exception {
    RingKey wrong = Crew.key("team/job", "another secret that is also long enough");
    try (ServerSocket impostor = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        SocketChannel channel = SocketChannel.open(impostor.getLocalSocketAddress())) {
      List<Future<byte[]>> answers =
          crew.start(
              1,
              rank -> {
                try (Socket victim = impostor.accept()) {
                  var in = new DataInputStream(victim.getInputStream());
                  byte[] hello = in.readNBytes(in.readInt());
                  byte[] nonce = new byte[Hello.NONCE_BYTES];
                  victim.getOutputStream().write(nonce);
                  byte[] code = in.readNBytes(32);
                  byte[] answer =
                      sendsBack ? code : wrong.code(RingKey.Side.ACCEPTOR, hello, nonce);
                  victim.getOutputStream().write(answer);
                  return answer;
                }
              });
      assertThatThrownBy(() ->
              Handshake.connect(
                  channel,
                  Crew.KEY,
                  new Hello.Key(Hello.Purpose.RING, 7, 0, 1),
                  Crew.LIMITS.handshake()))
          .hasMessage("the acceptor does not hold the ring secret");
      assertThat(answers.getFirst().get()).hasSize(32);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 5, 1 << 30})
  void breaksTheRingOnAFrameOfTheWrongLength(int length) throws Exception {
    assertBroken(
        ByteBuffer.allocate(8)
            .order(ByteOrder.LITTLE_ENDIAN)
            .putInt(Frame.Type.CHUNK.code())
            .putInt(length)
            .flip());
  }

  @Test
  void breaksTheRingOnAFrameOfTheWrongType() throws Exception {
    assertBroken(
        ByteBuffer.allocate(12).order(ByteOrder.LITTLE_ENDIAN).putInt(77).putInt(4).flip());
    // The type is also wrong when it belongs to another operation.
    assertBroken(
        ByteBuffer.allocate(8)
            .order(ByteOrder.LITTLE_ENDIAN)
            .putInt(Frame.Type.GATHER.code())
            .putInt(0)
            .flip());
  }

  /** An authenticated neighbour sends {@code frame} where one float of a sum is due. */
  private void assertBroken(ByteBuffer frame) throws Exception {
    try (RingListener victim = Crew.listen();
        RingListener neighbour = Crew.listen()) {
      Hello.Key key = new Hello.Key(Hello.Purpose.RING, 1, 1, 0);
      var forming =
          crew.start(
              1,
              rank ->
                  Ring.open(
                      victim,
                      1,
                      0,
                      Crew.addresses(List.of(victim, neighbour)),
                      Crew.LIMITS,
                      () -> false));
      try (Connection channel =
          Sockets.connect(Crew.address(victim), Crew.KEY, key, Crew.LIMITS, () -> false)) {
        Ring ring = forming.getFirst().get();
        channel.channel().write(frame);
        assertThatThrownBy(() -> ring.allReduce(new float[2]))
            .isInstanceOf(RingBrokenException.class)
            .hasMessageContaining("expected a CHUNK frame");
      }
    }
  }

  private void assertRefused(byte[] bytes) throws IOException {
    try (Socket socket = new Socket()) {
      socket.connect(Crew.address(listeners.getFirst()));
      socket.setSoTimeout(30_000);
      try {
        socket.getOutputStream().write(bytes);
        assertThat(socket.getInputStream().read()).isEqualTo(-1);
      } catch (SocketTimeoutException e) {
        throw e;
      } catch (IOException e) {
        // A reset is as good a refusal as an orderly close.
        assertThat(e).isInstanceOf(SocketException.class);
      }
    }
  }
}
