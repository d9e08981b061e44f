package dev.kastor.agent.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The limit of silence, by a clock that the test moves. */
final class LinksTest {
  private static final Duration SILENCE = Duration.ofSeconds(20);
  private static final int LOOKS = 10;

  private final AtomicLong now = new AtomicLong();
  private final Crew crew = new Crew();
  private Links waiting;
  private Links computing;

  @BeforeEach
  void connect() throws IOException {
    SocketChannel[] there = connected();
    SocketChannel[] back = connected();
    waiting = links(back[1], there[0]);
    computing = links(there[1], back[0]);
  }

  @AfterEach
  void close() {
    waiting.close(null);
    computing.close(null);
    crew.close();
  }

  private Links links(SocketChannel left, SocketChannel right) {
    return new Links(new Connection(left, null), new Connection(right, null), SILENCE, now::get);
  }

  private static SocketChannel[] connected() throws IOException {
    try (ServerSocketChannel server =
        ServerSocketChannel.open()
            .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
      SocketChannel from = SocketChannel.open(server.getLocalAddress());
      return new SocketChannel[] {from, server.accept()};
    }
  }

  /** Begins to wait for a number of the neighbour. */
  private Future<float[]> read() throws InterruptedException {
    Future<float[]> read =
        crew.start(
                1,
                _ -> {
                  float[] data = new float[1];
                  waiting.guarded(() -> waiting.reader().chunk(data, 0, 1));
                  return data;
                })
            .getFirst();
    // A tick tells one who waits from one who does not yet.
    now.incrementAndGet();
    while (waiting.reader().silentNanos() == 0) {
      now.incrementAndGet();
      Thread.sleep(1);
    }
    return read;
  }

  private void pass(Duration time) {
    now.addAndGet(time.toNanos());
  }

  @Test
  void aNeighbourThatSaysNothingForLongerThanTheLimitBreaksTheRing() throws Exception {
    Future<float[]> read = read();
    pass(SILENCE.minusSeconds(1));
    waiting.look();
    assertThat(waiting.broken()).isFalse();
    pass(Duration.ofSeconds(2));
    waiting.look();
    assertThat(waiting.broken()).isTrue();
    assertThatThrownBy(read::get)
        .hasCauseInstanceOf(RingBrokenException.class)
        .hasMessageContaining("silent for PT20S");
  }

  @Test
  void aNeighbourThatComputesIsWaitedForHoweverLong() throws Exception {
    Future<float[]> read = read();
    for (int look = 0; look < 3 * LOOKS; look++) {
      pass(SILENCE.dividedBy(LOOKS));
      computing.look();
      // A ping is sent once a quarter of the limit passed without a word.
      if (look % 3 == 2) {
        while (waiting.reader().silentNanos() > 0) {
          Thread.sleep(1);
        }
      }
      waiting.look();
      assertThat(waiting.broken()).as("look %d", look).isFalse();
    }
    computing.guarded(() -> computing.writer().chunk(new float[] {7}, 0, 1));
    assertThat(read.get()).containsExactly(7);
  }

  @Test
  void whoDoesNotWaitHearsNoSilence() {
    pass(SILENCE.multipliedBy(10));
    waiting.look();
    assertThat(waiting.broken()).isFalse();
  }
}
