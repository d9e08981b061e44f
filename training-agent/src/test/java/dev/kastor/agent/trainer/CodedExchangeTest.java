package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.agent.ring.Crew;
import dev.kastor.agent.ring.Relay;
import dev.kastor.agent.ring.Ring;
import dev.kastor.agent.ring.RingBrokenException;
import dev.kastor.agent.ring.RingListener;
import dev.kastor.agent.ring.StepExchange;
import dev.kastor.engine.codec.GradientCodecs;
import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.train.GradientCodec;
import dev.kastor.engine.train.GradientCodecPlugin;
import dev.kastor.plugin.Options;
import dev.kastor.plugin.jar.PluginFolder;
import dev.kastor.testkit.SourceJar;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Exchange of codes over real rings, with Kastor's codecs and the example's. */
@Tag("slow")
final class CodedExchangeTest {
  /** Two chunks for codes of 16 bits a parameter. */
  private static final int LENGTH = 70_001;

  private static final int STEPS = 3;

  /** Bytes of a frame's header and tag; lengths that go around first have 4 bytes beside. */
  private static final int FRAME_BYTES = 24;

  private static final int CHUNK_BYTES = 1 << 17;

  @TempDir private static Path folder;
  private static List<GradientCodecPlugin> codecs = List.of();

  private final Crew crew = new Crew();
  private final List<RingListener> listeners = new ArrayList<>();
  private long generation;

  @BeforeAll
  static void build() throws Exception {
    SourceJar.ofExample(folder, "codec", GradientCodecPlugin.class);
    codecs =
        new PluginFolder(folder).addTo(GradientCodecs.BUILT_IN, GradientCodecPlugin.class).all();
  }

  @AfterEach
  void close() throws Exception {
    for (RingListener listener : listeners) {
      listener.close();
    }
    crew.close();
  }

  static Stream<Arguments> codecsAndSizes() {
    return codecs.stream()
        .flatMap(codec -> Stream.of(2, 3).map(size -> Arguments.of(codec.name(), codec, size)));
  }

  private static List<GradientCodec> members(GradientCodecPlugin plugin, int size) {
    return IntStream.range(0, size)
        .mapToObj(_ -> plugin.create(Options.usual(plugin), Layout.of("all", LENGTH)))
        .toList();
  }

  private void listen(int size) throws Exception {
    while (listeners.size() < size) {
      listeners.add(Crew.listen());
    }
  }

  private static float[] gradient(int rank, int step) {
    SplittableRandom random = new SplittableRandom(31L * step + rank);
    float[] gradient = new float[LENGTH];
    for (int i = 0; i < LENGTH; i++) {
      gradient[i] = (float) random.nextGaussian();
    }
    return gradient;
  }

  /** A step's sums, of those members whose exchange came to its end. */
  private List<Optional<float[]>> exchange(
      List<GradientCodec> codecs, List<float[]> gradients, List<InetSocketAddress> addresses)
      throws Exception {
    long ringGeneration = ++generation;
    return crew.together(
        codecs.size(),
        rank -> {
          float[] gradient = gradients.get(rank).clone();
          try (Ring ring =
                  Ring.open(
                      listeners.get(rank),
                      ringGeneration,
                      rank,
                      addresses,
                      Crew.LIMITS,
                      () -> false);
              StepExchange exchange =
                  new CodedExchange(ring, "tried", codecs.get(rank), gradient)) {
            exchange.ready(0);
            exchange.finish();
            return Optional.of(gradient);
          } catch (RingBrokenException e) {
            return Optional.empty();
          }
        });
  }

  private List<Optional<float[]>> exchange(
      List<GradientCodec> codecs, int step, List<InetSocketAddress> addresses) throws Exception {
    List<float[]> gradients =
        IntStream.range(0, codecs.size()).mapToObj(rank -> gradient(rank, step)).toList();
    return exchange(codecs, gradients, addresses);
  }

  private List<InetSocketAddress> addresses() {
    return listeners.stream().map(Crew::address).toList();
  }

  /** The same, of which the second member is reached through a relay. */
  private List<InetSocketAddress> addresses(Relay relay) {
    List<InetSocketAddress> addresses = new ArrayList<>(addresses());
    addresses.set(1, relay.address());
    return addresses;
  }

  /** Sum of a step of undisturbed members, as all add in the order of ranks. */
  private static float[] undisturbed(List<GradientCodec> codecs, int step) {
    float[] sum = new float[LENGTH];
    List<byte[]> codes = new ArrayList<>();
    for (int rank = 0; rank < codecs.size(); rank++) {
      codes.add(codecs.get(rank).encode(gradient(rank, step)));
    }
    codes.forEach(code -> codecs.getFirst().decode(code, sum));
    codecs.forEach(GradientCodec::commit);
    return sum;
  }

  @ParameterizedTest(name = "{0}, {2} members")
  @MethodSource("codecsAndSizes")
  @Tag("never-retried")
  void allMembersComeToTheSameBits(String name, GradientCodecPlugin plugin, int size)
      throws Exception {
    listen(size);
    List<GradientCodec> exchanged = members(plugin, size);
    List<GradientCodec> alone = members(plugin, size);
    for (int step = 0; step < STEPS; step++) {
      float[] expected = undisturbed(alone, step);
      for (Optional<float[]> sum : exchange(exchanged, step, addresses())) {
        assertThat(sum.orElseThrow()).as(name).isEqualTo(expected);
      }
      exchanged.forEach(GradientCodec::commit);
    }
  }

  /** Frames to the second member, from the last to the first: codes, then lengths. */
  private static List<Integer> frames(int size, int codeBytes) {
    List<Integer> frames = new ArrayList<>();
    for (int code = 0; code < size - 1; code++) {
      for (int at = (codeBytes - 1) / CHUNK_BYTES * CHUNK_BYTES; at >= 0; at -= CHUNK_BYTES) {
        frames.add(FRAME_BYTES + Math.min(CHUNK_BYTES, codeBytes - at));
      }
    }
    for (int length = 0; length < size - 1; length++) {
      frames.add(FRAME_BYTES + Integer.BYTES);
    }
    return frames;
  }

  @ParameterizedTest(name = "{0}, {2} members")
  @MethodSource("codecsAndSizes")
  @Tag("never-retried")
  void aStepThatBreaksIsTakenAgainWithTheSameBits(String name, GradientCodecPlugin plugin, int size)
      throws Exception {
    isTakenAgain(name, plugin, size, 3);
  }

  @ParameterizedTest(name = "{0}, {2} members")
  @MethodSource("codecsAndSizes")
  @Tag("nightly")
  @Tag("never-retried")
  void aStepThatBreaksAtAnyFrameIsTakenAgainWithTheSameBits(
      String name, GradientCodecPlugin plugin, int size) throws Exception {
    isTakenAgain(name, plugin, size, 1);
  }

  /** Breaks a step at each so-many-th place within a frame or between two. */
  private void isTakenAgain(String name, GradientCodecPlugin plugin, int size, int each)
      throws Exception {
    listen(size);
    List<GradientCodec> alone = members(plugin, size);
    List<float[]> expected =
        IntStream.range(0, STEPS).mapToObj(step -> undisturbed(alone, step)).toList();
    int codeBytes = members(plugin, 1).getFirst().encode(gradient(0, 0)).length;
    long end;
    try (Relay relay = Relay.cutting(Crew.address(listeners.get(1)), Long.MAX_VALUE)) {
      exchange(members(plugin, size), 1, addresses(relay));
      end = relay.seen().length;
    }
    List<Long> cuts = new ArrayList<>();
    for (int frame : frames(size, codeBytes)) {
      cuts.add(end - frame / 2);
      end -= frame;
      cuts.add(end);
    }
    assertThat(end).as("what is left is the handshake").isBetween(50L, 1000L);

    for (int i = 0; i < cuts.size(); i += each) {
      long cut = cuts.get(i);
      List<GradientCodec> disturbed = members(plugin, size);
      for (int step = 0; step < STEPS; step++) {
        if (step == 1) {
          try (Relay relay = Relay.cutting(Crew.address(listeners.get(1)), cut)) {
            assertThat(exchange(disturbed, step, addresses(relay)))
                .as("%s cut after %d bytes", name, cut)
                .anyMatch(Optional::isEmpty);
          }
        }
        for (Optional<float[]> sum : exchange(disturbed, step, addresses())) {
          assertThat(sum.orElseThrow())
              .as("%s cut after %d bytes, step %d", name, cut, step)
              .isEqualTo(expected.get(step));
        }
        disturbed.forEach(GradientCodec::commit);
      }
    }
  }

  @ParameterizedTest(name = "{0}, {2} members")
  @MethodSource("codecsAndSizes")
  void whatIsNotFiniteMakesTheSumNotFiniteAndLeavesBuffersAsTheyWere(
      String name, GradientCodecPlugin plugin, int size) throws Exception {
    listen(size);
    List<GradientCodec> tried = members(plugin, size);
    float[] bad = gradient(1, 0);
    bad[LENGTH / 2] = Float.POSITIVE_INFINITY;
    List<float[]> gradients =
        IntStream.range(0, size).mapToObj(rank -> rank == 1 ? bad : gradient(rank, 0)).toList();
    for (Optional<float[]> sum : exchange(tried, gradients, addresses())) {
      assertThat(sum.orElseThrow()).as(name).containsOnly(Float.NaN);
    }
    float[] expected = undisturbed(members(plugin, size), 0);
    for (Optional<float[]> sum : exchange(tried, 0, addresses())) {
      assertThat(sum.orElseThrow()).isEqualTo(expected);
    }
  }

  /** A codec whose codes and bound are given. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Given(byte[] code, long mostBytes, GradientCodec reader) implements GradientCodec {
    @Override
    public byte[] encode(float[] gradient) {
      return code;
    }

    @Override
    public void decode(byte[] code, float[] sum) {
      reader.decode(code, sum);
    }

    @Override
    public void commit() {}
  }

  /** Ends of two members whose second one gives this code. */
  private List<Throwable> ends(byte[] code, long mostBytes) throws Exception {
    listen(2);
    List<GradientCodec> codecs = new ArrayList<>(members(CodedExchangeTest.codecs.getFirst(), 2));
    codecs.set(1, new Given(code, mostBytes, codecs.getFirst()));
    long ringGeneration = ++generation;
    List<InetSocketAddress> addresses = addresses();
    List<Future<Boolean>> exchanges =
        crew.start(
            2,
            rank -> {
              try (Ring ring =
                  Ring.open(
                      listeners.get(rank),
                      ringGeneration,
                      rank,
                      addresses,
                      Crew.LIMITS,
                      () -> false)) {
                new CodedExchange(ring, "tried", codecs.get(rank), gradient(rank, 0)).finish();
                return true;
              }
            });
    List<Throwable> ends = new ArrayList<>();
    for (Future<Boolean> exchange : exchanges) {
      try {
        exchange.get();
        ends.add(new AssertionError("nobody noticed"));
      } catch (ExecutionException e) {
        ends.add(e.getCause());
      }
    }
    return ends;
  }

  @Test
  void aDamagedCodeBreaksTheRingAndFailsWhoGaveIt() throws Exception {
    byte[] damaged = new byte[LENGTH];
    Arrays.fill(damaged, (byte) -1);
    List<Throwable> ends = ends(damaged, 2L * LENGTH);
    assertThat(ends.get(0))
        .isInstanceOf(RingBrokenException.class)
        .hasMessageContaining("codec tried cannot read the code of rank 1: it has 70001 bytes");
    assertThat(ends.get(1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("codec tried cannot read the code of rank 1");
  }

  @Test
  void aCodeAboveTheBoundIsNotRead() throws Exception {
    assertThat(ends(new byte[3 * LENGTH], 3L * LENGTH).getFirst())
        .isInstanceOf(RingBrokenException.class)
        .hasMessageContaining("rank 1 has 210003 bytes to gather; at most 140002 are allowed");
  }

  @Test
  void aCodecThatBreaksItsOwnBoundIsNamed() throws Exception {
    listen(1);
    try (Ring ring = Ring.open(listeners.getFirst(), 1, 0, addresses(), Crew.LIMITS, () -> false)) {
      for (byte[] code : new byte[][] {{}, {1, 2, 3}}) {
        GradientCodec given = new Given(code, 2, members(codecs.getFirst(), 1).getFirst());
        assertThatThrownBy(() -> new CodedExchange(ring, "tried", given, new float[1]).finish())
            .isInstanceOf(IllegalStateException.class)
            .hasMessageContaining("codec tried gives a code of %d bytes", code.length);
      }
    }
  }
}
