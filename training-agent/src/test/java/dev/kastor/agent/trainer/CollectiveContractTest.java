package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.agent.ring.Crew;
import dev.kastor.agent.ring.Relay;
import dev.kastor.agent.ring.Ring;
import dev.kastor.agent.ring.RingBrokenException;
import dev.kastor.agent.ring.RingListener;
import dev.kastor.agent.ring.StepExchange;
import dev.kastor.engine.collective.Collectives;
import dev.kastor.engine.optim.AdaScale;
import dev.kastor.engine.program.TrainingMethod;
import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.train.CollectivePlugin;
import dev.kastor.plugin.Chosen;
import dev.kastor.plugin.Options;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Contract of collectives, those of Kastor and one of a test, over real connections. */
@Tag("slow")
final class CollectiveContractTest {
  /** Nodes of the members, a letter each. */
  private static final List<String> PLACES =
      List.of("aa", "ab", "aaa", "abc", "aab", "aabb", "abab", "aaab", "aabbb", "abbccc");

  /** Less than the shortest frame: one of a float, with its header and tag. */
  private static final int STRIDE = 21;

  private static final TrainingMethod RING = TrainingMethod.USUAL;

  private final Crew crew = new Crew();
  private final List<RingListener> listeners = new ArrayList<>();
  private long generation;

  @AfterEach
  void close() throws Exception {
    for (RingListener listener : listeners) {
      listener.close();
    }
    crew.close();
  }

  private static TrainingMethod with(CollectivePlugin collective) {
    return Features.collective(
        TrainingMethod.USUAL, new Chosen<>(collective, Options.usual(collective)));
  }

  static Stream<CollectivePlugin> collectives() {
    return Stream.concat(Collectives.BUILT_IN.all().stream(), Stream.of(new GatheredSums()));
  }

  static Stream<Arguments> collectivesAndPlaces() {
    return collectives()
        .flatMap(
            each -> PLACES.stream().map(place -> Arguments.of(each.name(), with(each), place)));
  }

  static Stream<Arguments> methods() {
    return collectives().map(each -> Arguments.of(each.name(), with(each)));
  }

  /** A replica's way to exchange, for as long as its process lives. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Member(Exchanges exchanges, float[] gradient) {
    static Member of(TrainingMethod method, int length) {
      TrainingSettings settings =
          new TrainingSettings(
              8,
              0.02,
              new AdaScale(),
              new Work.Steps(1000),
              5,
              Duration.ofDays(1),
              Duration.ofDays(1),
              method);
      float[] gradient = new float[length];
      return new Member(new Exchanges(settings, Layout.of("all", length), gradient), gradient);
    }

    static List<Member> of(TrainingMethod method, int length, int count) {
      return IntStream.range(0, count).mapToObj(_ -> of(method, length)).toList();
    }
  }

  /** Gives the addresses by which a rank reaches the others. */
  private interface Ways {
    List<InetSocketAddress> of(int rank);
  }

  private List<InetSocketAddress> addresses() {
    return listeners.stream().map(Crew::address).toList();
  }

  private static void fill(float[] gradient, int rank, int step) {
    SplittableRandom random = new SplittableRandom(31L * step + rank);
    for (int i = 0; i < gradient.length; i++) {
      gradient[i] = (float) random.nextGaussian();
    }
  }

  private List<Optional<float[]>> exchange(List<Member> members, String place, int step)
      throws Exception {
    return exchange(members, place, step, 1, _ -> addresses());
  }

  /** Sums of the last of some equal steps of one generation, of the members that come so far. */
  private List<Optional<float[]>> exchange(
      List<Member> members, String place, int step, int count, Ways ways) throws Exception {
    while (listeners.size() < members.size()) {
      listeners.add(Crew.listen());
    }
    long ringGeneration = ++generation;
    List<String> nodes = place.chars().mapToObj(Character::toString).toList();
    return crew.together(
        members.size(),
        rank -> {
          Member member = members.get(rank);
          List<InetSocketAddress> addresses = ways.of(rank).subList(0, members.size());
          try (Ring ring =
                  Ring.open(
                      listeners.get(rank),
                      ringGeneration,
                      rank,
                      addresses,
                      Crew.LIMITS,
                      () -> false);
              Exchanges.OfGeneration exchanges = member.exchanges().over(ring, nodes)) {
            for (int i = 0; i < count; i++) {
              fill(member.gradient(), rank, step);
              try (StepExchange exchange = exchanges.begin()) {
                exchange.ready(member.gradient().length / 2);
                exchange.ready(0);
                exchange.finish();
                exchange.commit();
              }
            }
            // Nobody closes before all are done, which others would take for a failure.
            ring.allGather(new byte[0]);
            return Optional.of(member.gradient().clone());
          } catch (RingBrokenException e) {
            return Optional.empty();
          }
        });
  }

  private static void assertAll(List<Optional<float[]>> sums, float[] expected, String what) {
    for (Optional<float[]> sum : sums) {
      assertThat(Arrays.equals(sum.orElseThrow(), expected)).as(what).isTrue();
    }
  }

  @ParameterizedTest(name = "{0} on {2}")
  @MethodSource("collectivesAndPlaces")
  @Tag("never-retried")
  void allMembersComeToTheSumOfTheRing(String name, TrainingMethod method, String place)
      throws Exception {
    int size = place.length();
    for (int length : new int[] {1, 2, size - 1, size + 1, 101, 70_001, 300_001}) {
      List<float[]> summed =
          exchange(Member.of(method, length, size), place, 1).stream()
              .map(Optional::orElseThrow)
              .toList();
      float[] ring = exchange(Member.of(RING, length, size), place, 1).getFirst().orElseThrow();
      for (float[] sum : summed) {
        assertThat(Arrays.equals(sum, summed.getFirst())).as("%s, %d", name, length).isTrue();
      }
      for (int i = 0; i < length; i++) {
        if (Math.abs(summed.getFirst()[i] - ring[i]) > 1e-5f) {
          assertThat(summed.getFirst()[i]).as("element %d", i).isEqualTo(ring[i], within(1e-5f));
        }
      }
      long nodes = place.chars().distinct().count();
      if (name.equals("ring") || (name.equals("hierarchical") && (nodes == 1 || nodes == size))) {
        assertThat(Arrays.equals(summed.getFirst(), ring)).as("the bits of the ring").isTrue();
      }
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("methods")
  void aVectorOfAnyLengthIsSummedWhole(String name, TrainingMethod method) throws Exception {
    List<RingListener> four = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      four.add(Crew.listen());
    }
    listeners.addAll(four);
    List<String> nodes = List.of("a", "a", "b", "b");
    List<float[]> sums =
        crew.together(
            4,
            rank -> {
              float[] vector = new float[600_001];
              Arrays.fill(vector, rank + 1);
              float[] none = {};
              try (Ring ring =
                      Ring.open(four.get(rank), 1, rank, addresses(), Crew.LIMITS, () -> false);
                  Exchanges.OfGeneration exchanges =
                      Member.of(method, 1).exchanges().over(ring, nodes)) {
                exchanges.sum(none);
                exchanges.sum(vector);
                ring.allGather(new byte[0]);
              }
              return vector;
            });
    assertThat(sums).as(name).allSatisfy(sum -> assertThat(sum).containsOnly(10));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("methods")
  void whatWasSummedBeforeAndWithWhomChangesNothing(String name, TrainingMethod method)
      throws Exception {
    List<Member> fresh = Member.of(method, 1001, 4);
    float[] expected = exchange(fresh, "aabb", 7).getFirst().orElseThrow();
    List<Member> changed = new ArrayList<>(Member.of(method, 1001, 5));
    exchange(changed, "aabbc", 1);
    changed.remove(0);
    exchange(changed, "abbc", 2);
    changed.remove(3);
    exchange(changed, "abb", 3);
    changed.addFirst(Member.of(method, 1001));
    assertAll(exchange(changed, "aabb", 7), expected, name);
    assertAll(exchange(changed, "aabb", 7, 3, _ -> addresses()), expected, name);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("methods")
  void whatIsNotFiniteIsSoOnAllMembers(String name, TrainingMethod method) throws Exception {
    List<RingListener> three = List.of(Crew.listen(), Crew.listen(), Crew.listen());
    listeners.addAll(three);
    List<float[]> sums =
        crew.together(
            3,
            rank -> {
              float[] vector = {1, rank == 2 ? Float.NaN : 1, rank == 1 ? 1 / 0f : 1, -0f};
              try (Ring ring =
                      Ring.open(three.get(rank), 1, rank, addresses(), Crew.LIMITS, () -> false);
                  Exchanges.OfGeneration exchanges =
                      Member.of(method, 1).exchanges().over(ring, List.of("a", "a", "b"))) {
                exchanges.sum(vector);
                ring.allGather(new byte[0]);
              }
              return vector;
            });
    for (float[] sum : sums) {
      assertThat(sum).as(name).containsExactly(3, Float.NaN, Float.POSITIVE_INFINITY, sum[3]);
      assertThat(sum[3]).isZero();
    }
  }

  /** Of which the second member is reached through a relay. */
  private Ways through(Relay relay) {
    List<InetSocketAddress> addresses = new ArrayList<>(addresses());
    addresses.set(1, relay.address());
    return _ -> addresses;
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("methods")
  @Tag("never-retried")
  void aStepThatBreaksIsTakenAgainWithTheSameBits(String name, TrainingMethod method)
      throws Exception {
    isTakenAgain(name, method, 5 * STRIDE);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("methods")
  @Tag("nightly")
  @Tag("never-retried")
  void aStepThatBreaksAtAnyFrameIsTakenAgainWithTheSameBits(String name, TrainingMethod method)
      throws Exception {
    isTakenAgain(name, method, STRIDE);
  }

  /** Breaks the step after so many bytes, and so many more, until its end. */
  private void isTakenAgain(String name, TrainingMethod method, int stride) throws Exception {
    for (String place : List.of("aabb", "aab")) {
      int size = place.length();
      List<Member> members = Member.of(method, 203, size);
      List<float[]> expected = new ArrayList<>();
      for (int step = 0; step < 2; step++) {
        expected.add(exchange(members, place, step).getFirst().orElseThrow());
      }
      long handshake = longest(Member.of(RING, 1, size), "a".repeat(size), 0);
      long end = longest(members, place, 1);
      // What all send at the very end says that all are done.
      int cuts = 0;
      for (long cut = handshake; cut < end; cut += stride, cuts++) {
        String what = "%s on %s, cut after %d of %d bytes".formatted(name, place, cut, end);
        try (Relay relay = Relay.cutting(Crew.address(listeners.get(1)), cut)) {
          assertThat(exchange(members, place, 0, 1, through(relay)))
              .as(what)
              .anyMatch(Optional::isEmpty);
        }
        for (int step = 0; step < 2; step++) {
          assertAll(exchange(members, place, step), expected.get(step), what);
        }
      }
      assertThat(cuts).isGreaterThan(10 * STRIDE / stride);
    }
  }

  private long longest(List<Member> members, String place, int count) throws Exception {
    try (Relay relay = Relay.cutting(Crew.address(listeners.get(1)), Long.MAX_VALUE)) {
      exchange(members, place, 0, count, through(relay));
      return relay.longest();
    }
  }

  /** Bytes that cross between two nodes of two replicas each, of some equal steps. */
  private long crossing(TrainingMethod method, int length, int steps) throws Exception {
    String place = "aabb";
    List<Member> members = Member.of(method, length, 4);
    while (listeners.size() < 4) {
      listeners.add(Crew.listen());
    }
    List<Relay> relays = new ArrayList<>();
    List<List<InetSocketAddress>> ways = new ArrayList<>();
    try {
      for (int from = 0; from < 4; from++) {
        List<InetSocketAddress> way = new ArrayList<>(addresses());
        for (int to = 0; to < 4; to++) {
          if (place.charAt(from) != place.charAt(to)) {
            relays.add(Relay.cutting(Crew.address(listeners.get(to)), Long.MAX_VALUE));
            way.set(to, relays.getLast().address());
          }
        }
        ways.add(way);
      }
      assertThat(exchange(members, place, 0, steps, ways::get)).allMatch(Optional::isPresent);
      return relays.stream().mapToLong(relay -> relay.seen().length).sum();
    } finally {
      for (Relay relay : relays) {
        relay.close();
      }
    }
  }

  /** Of {@code glyph-mlp}; the bytes of each way are half of them. */
  @Test
  void twoThirdsOfTheRingsBytesCrossBetweenTwoNodesOfTwo() throws Exception {
    int parameters = 265_996;
    TrainingMethod hierarchical = with(Collectives.BUILT_IN.get("hierarchical"));
    long ring = crossing(RING, parameters, 3) - crossing(RING, parameters, 2);
    long both = crossing(hierarchical, parameters, 3) - crossing(hierarchical, parameters, 2);
    long vector = (long) parameters * Float.BYTES;
    assertThat((double) ring / vector).isBetween(3.0, 3.001);
    assertThat((double) both / vector).isBetween(2.0, 2.001);
  }
}
