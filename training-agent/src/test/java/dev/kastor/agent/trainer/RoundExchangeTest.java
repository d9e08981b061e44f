package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.agent.ring.Crew;
import dev.kastor.agent.ring.Relay;
import dev.kastor.agent.ring.Ring;
import dev.kastor.agent.ring.RingBrokenException;
import dev.kastor.agent.ring.RingListener;
import dev.kastor.engine.codec.GradientCodecs;
import dev.kastor.engine.optim.AdaScale;
import dev.kastor.engine.optim.Adam;
import dev.kastor.engine.optim.Sgd;
import dev.kastor.engine.program.Programs;
import dev.kastor.engine.program.TrainingMethod;
import dev.kastor.engine.sync.SyncPolicies;
import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.train.GradientCodecPlugin;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.Program;
import dev.kastor.engine.train.Trainable;
import dev.kastor.plugin.Chosen;
import dev.kastor.protocol.BatchPlan;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Exchange of rounds over real rings. */
@Tag("slow")
final class RoundExchangeTest {
  private static final BatchPlan PLAN = new BatchPlan(4, 1);
  private static final int ROUNDS = 3;

  /** Less than the shortest frame: one of a float, with its header and tag. */
  private static final int STRIDE = 21;

  private final Crew crew = new Crew();
  private final List<RingListener> listeners = new ArrayList<>();
  private final ConcurrentLinkedQueue<Long> heard = new ConcurrentLinkedQueue<>();
  private long generation;

  @AfterEach
  void close() throws Exception {
    for (RingListener listener : listeners) {
      listener.close();
    }
    crew.close();
  }

  /** A replica and its way to exchange. */
  private record Member(Replica replica, Exchanges exchanges) {
    static Member of(Trainable model, Optimizer optimizer, TrainingSettings settings) {
      Replica replica = new Replica(model, optimizer, settings);
      replica.startFresh();
      Layout layout = model.layout();
      return new Member(replica, new Exchanges(settings, layout, replica.gradient()));
    }

    long digest() {
      return StateDigest.of(replica.state());
    }
  }

  private static TrainingSettings settings(TrainingMethod method) {
    return new TrainingSettings(
        8,
        0.02,
        new AdaScale(),
        new Work.Steps(1000),
        5,
        Duration.ofDays(1),
        Duration.ofDays(1),
        method);
  }

  private static TrainingMethod local(int steps, Optional<Chosen<GradientCodecPlugin>> codec) {
    return Features.method(
        List.of(),
        codec,
        List.of(),
        Optional.empty(),
        Optional.empty(),
        Optional.of(SyncPolicies.BUILT_IN.choose("local:steps=" + steps)));
  }

  private void listen(int size) throws Exception {
    while (listeners.size() < size) {
      listeners.add(Crew.listen());
    }
  }

  /** The members' addresses, of which the second is reached through a relay. */
  private List<InetSocketAddress> addresses(Optional<Relay> relay) {
    List<InetSocketAddress> addresses =
        new ArrayList<>(listeners.stream().map(Crew::address).toList());
    relay.ifPresent(way -> addresses.set(1, way.address()));
    return addresses;
  }

  private RingSteps steps(Replica replica) {
    return new RingSteps(
        replica,
        new RingSteps.Ear() {
          @Override
          public void waiting(boolean now) {}

          @Override
          public void stepped(long steps) {
            heard.add(steps);
          }
        });
  }

  /** Takes steps or rounds over one ring; those of the members that come to its end. */
  private List<Optional<RingSteps.Exchanged>> take(
      List<Member> members, int count, boolean applied, Optional<Relay> relay) throws Exception {
    long ringGeneration = ++generation;
    List<InetSocketAddress> addresses = addresses(relay);
    return crew.together(
        members.size(),
        rank -> {
          Member member = members.get(rank);
          try (Ring ring =
                  Ring.open(
                      listeners.get(rank),
                      ringGeneration,
                      rank,
                      addresses,
                      Crew.LIMITS,
                      () -> false);
              Exchanges.OfGeneration exchanges =
                  member.exchanges().over(ring, Collections.nCopies(members.size(), "node"))) {
            Optional<RingSteps.Exchanged> last = Optional.empty();
            for (int i = 0; i < count; i++) {
              RingSteps.Exchanged exchanged =
                  steps(member.replica()).take(ring, exchanges, PLAN, () -> 1, () -> false);
              if (applied) {
                member.replica().apply(exchanged.locals(), PLAN);
                exchanged.exchange().commit();
              }
              last = Optional.of(exchanged);
            }
            return last;
          } catch (RingBrokenException e) {
            return Optional.empty();
          }
        });
  }

  private void train(List<Member> members, int count) throws Exception {
    assertThat(take(members, count, true, Optional.empty())).allMatch(Optional::isPresent);
    for (Member member : members) {
      assertThat(member.digest()).isEqualTo(members.getFirst().digest());
      assertThat(member.replica().lostOrRepeated()).isZero();
    }
  }

  private static List<Member> members(int size, Optional<Chosen<GradientCodecPlugin>> codec) {
    Optimizer optimizer = codec.isPresent() ? new Sgd(0.9, 0) : new Adam(0.9, 0.999, 1e-8, 0);
    return IntStream.range(0, size)
        .mapToObj(_ -> Member.of(new LinearModel(), optimizer, settings(local(3, codec))))
        .toList();
  }

  static Stream<Arguments> sizesAndCodecs() {
    return Stream.of(2, 3)
        .flatMap(size ->
            Stream.of(
                Arguments.of(size, Optional.empty()),
                Arguments.of(size, Optional.of(GradientCodecs.BUILT_IN.choose("bf16")))));
  }

  @ParameterizedTest(name = "{0} members, codec {1}")
  @MethodSource("sizesAndCodecs")
  @Tag("never-retried")
  void aRoundThatBreaksIsTakenAgainWithTheSameBits(
      int size, Optional<Chosen<GradientCodecPlugin>> codec) throws Exception {
    isTakenAgain(size, codec, 5 * STRIDE);
  }

  @ParameterizedTest(name = "{0} members, codec {1}")
  @MethodSource("sizesAndCodecs")
  @Tag("nightly")
  @Tag("never-retried")
  void aRoundThatBreaksAtAnyFrameIsTakenAgainWithTheSameBits(
      int size, Optional<Chosen<GradientCodecPlugin>> codec) throws Exception {
    isTakenAgain(size, codec, STRIDE);
  }

  /** Breaks a round after so many bytes, and so many more, until its end. */
  private void isTakenAgain(int size, Optional<Chosen<GradientCodecPlugin>> codec, int stride)
      throws Exception {
    listen(size);
    List<Member> undisturbed = members(size, codec);
    List<Long> expected = new ArrayList<>();
    for (int round = 0; round < ROUNDS; round++) {
      train(undisturbed, 1);
      expected.add(undisturbed.getFirst().digest());
    }
    assertThat(heard).contains(1L, 2L, 3L, 9L);
    int handshake;
    int end;
    try (Relay relay = Relay.cutting(Crew.address(listeners.get(1)), Long.MAX_VALUE)) {
      take(members(size, codec), 0, false, Optional.of(relay));
      handshake = relay.seen().length;
    }
    try (Relay relay = Relay.cutting(Crew.address(listeners.get(1)), Long.MAX_VALUE)) {
      take(members(size, codec), 1, false, Optional.of(relay));
      end = relay.seen().length;
    }
    for (int cut = handshake; cut < end; cut += stride) {
      List<Member> disturbed = members(size, codec);
      for (int round = 0; round < ROUNDS; round++) {
        if (round == 1) {
          try (Relay relay = Relay.cutting(Crew.address(listeners.get(1)), cut)) {
            assertThat(take(disturbed, 1, false, Optional.of(relay)))
                .as("cut after %d of %d bytes", cut, end)
                .anyMatch(Optional::isEmpty);
          }
          for (Member member : disturbed) {
            assertThat(member.digest()).as("the anchor").isEqualTo(expected.getFirst());
          }
        }
        train(disturbed, 1);
        assertThat(disturbed.getFirst().digest())
            .as("cut after %d of %d bytes, round %d", cut, end, round)
            .isEqualTo(expected.get(round));
      }
    }
  }

  /** Bytes that a member sends to the next one in eight steps of a shipped program. */
  private long bytes(Optimizer optimizer, TrainingMethod method, int count) throws Exception {
    Program program = Programs.get("glyph-mlp");
    Map<String, String> parameters = new HashMap<>(program.defaultParameters());
    parameters.putAll(Map.of("trainingExamples", "200", "heldOutExamples", "20"));
    List<Trainable> models = new ArrayList<>();
    List<Member> members = new ArrayList<>();
    try (Relay relay = Relay.cutting(Crew.address(listeners.get(1)), Long.MAX_VALUE)) {
      for (int rank = 0; rank < 2; rank++) {
        models.add(program.load(parameters));
        members.add(Member.of(models.getLast(), optimizer, settings(method)));
      }
      assertThat(take(members, count, true, Optional.of(relay))).allMatch(Optional::isPresent);
      assertThat(members.getFirst().replica().step()).isEqualTo(8);
      return relay.seen().length;
    } finally {
      models.forEach(Trainable::close);
    }
  }

  static Stream<Arguments> optimizersAndShares() {
    return Stream.of(
        Arguments.of(new Sgd(0, 0), 1 / 8.0),
        Arguments.of(new Sgd(0.9, 0), 2 / 8.0),
        Arguments.of(new Adam(0.9, 0.999, 1e-8, 0), 3 / 8.0));
  }

  /**
   * The change of the parameters, and the vectors of the optimizer, in the place of 8 gradients.
   */
  @ParameterizedTest
  @MethodSource("optimizersAndShares")
  void eightLocalStepsExchangeAnEighthForTheParametersAndForEachSlot(
      Optimizer optimizer, double share) throws Exception {
    listen(2);
    long every = bytes(optimizer, TrainingMethod.USUAL, 8);
    long local = bytes(optimizer, local(8, Optional.empty()), 1);
    assertThat((double) local / every)
        .as("%d of %d bytes", local, every)
        .isBetween(share, share + 0.01);
  }
}
