package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.agent.ring.Crew;
import dev.kastor.agent.ring.RingBrokenException;
import dev.kastor.engine.checkpoint.StateCodec;
import dev.kastor.engine.optim.AdaScale;
import dev.kastor.engine.optim.Sgd;
import dev.kastor.engine.select.ExampleSelectors;
import dev.kastor.engine.train.AuditDigest;
import dev.kastor.engine.train.Section;
import dev.kastor.engine.train.TrainingState;
import dev.kastor.protocol.BatchPlan;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Training of chosen examples: what is chosen, what becomes of it, and the audit. */
@Tag("never-retried")
class ExampleStreamTest {
  private static final BatchPlan PLAN = new BatchPlan(8, 1);
  private static final double RATE = 0.02;

  /** With parameters that do not move, examples keep their losses. */
  private static final double NEARLY_NOTHING = 1e-30;

  private final Crew crew = new Crew();

  @AfterEach
  void close() {
    crew.close();
  }

  private static Replica replica(String selector, double learningRate, Work work) {
    Replica replica =
        new Replica(
            new LinearModel(),
            new Sgd(0.9, 0),
            new TrainingSettings(
                16,
                learningRate,
                new AdaScale(),
                work,
                5,
                Duration.ofHours(1),
                Duration.ofHours(1),
                Features.select(
                    selector.isEmpty()
                        ? Optional.empty()
                        : Optional.of(ExampleSelectors.BUILT_IN.choose(selector)))));
    replica.startFresh();
    return replica;
  }

  private static Replica replica(String selector, double learningRate) {
    return replica(selector, learningRate, new Work.Steps(100_000));
  }

  /** Bytes of threads that meet, as a ring gathers them. */
  private static final class Meeting {
    private final byte[][] given;
    private final CyclicBarrier barrier;

    Meeting(int size) {
      given = new byte[size][];
      barrier = new CyclicBarrier(size);
    }

    List<byte[]> all(int rank, byte[] own) {
      given[rank] = own;
      try {
        barrier.await();
        List<byte[]> all = List.of(given);
        barrier.await();
        return all;
      } catch (InterruptedException | BrokenBarrierException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private void train(int steps, BatchPlan plan, Replica... replicas) throws Exception {
    Meeting meeting = new Meeting(replicas.length);
    for (int step = 0; step < steps; step++) {
      List<LocalStep> all =
          crew.together(
              replicas.length,
              rank -> {
                Replica each = replicas[rank];
                each.select(plan, replicas.length, rank, own -> meeting.all(rank, own));
                return each.compute(plan, replicas.length, rank, _ -> {});
              });
      sum(Arrays.stream(replicas).map(Replica::gradient).toList());
      sum(Arrays.stream(replicas).map(Replica::batchStatistics).toList());
      for (Replica each : replicas) {
        each.apply(all, plan);
      }
    }
  }

  private static void sum(List<float[]> vectors) {
    float[] sum = new float[vectors.getFirst().length];
    for (float[] vector : vectors) {
      IntStream.range(0, sum.length).forEach(i -> sum[i] += vector[i]);
    }
    vectors.forEach(vector -> System.arraycopy(sum, 0, vector, 0, sum.length));
  }

  private static float[] parameters(Replica replica) {
    return replica.state().section(TrainingState.PARAMETERS).floats();
  }

  private static long cursor(Replica replica) {
    return replica.state().section(TrainingState.CURSOR).longs()[0];
  }

  @Tag("slow")
  @ParameterizedTest
  @ValueSource(
      strings = {"random:keep=1", "backprop:beta=0:wholeEpochs=0", "backprop:wholeEpochs=1000"})
  void whoChoosesAllExamplesTrainsToTheSameBits(String selector) throws Exception {
    Replica chosen = replica(selector, RATE);
    Replica plain = replica("", RATE);
    train(100, PLAN, chosen);
    train(100, PLAN, plain);
    assertThat(parameters(chosen)).isEqualTo(parameters(plain));
    assertThat(chosen.progress()).isEqualTo(plain.progress());
    assertThat(chosen.lostOrRepeated()).isZero();
    assertThat(plain.selected()).isEmpty();
    assertThat(chosen.selected()).hasValue("judged 1600 examples and trained 1600 of them");
  }

  /** Those of the state that say what was chosen. */
  private static List<String> choices(Replica replica) {
    return Stream.of(
            TrainingState.CURSOR,
            TrainingState.AUDIT,
            TrainingState.TRAINED,
            TrainingState.CHOSEN,
            "selector.backprop.losses",
            "selector.backprop.judged")
        .map(name -> replica.state().section(name))
        .map(section -> section.name() + Arrays.toString(bytes(section)))
        .toList();
  }

  private static byte[] bytes(Section section) {
    return section.values().toArray(ValueLayout.JAVA_BYTE);
  }

  @Tag("slow")
  @Test
  void theChoiceIsTheSameForAllReplicasAndPasses() throws Exception {
    String selector = "backprop:beta=2:wholeEpochs=1";
    Replica one = replica(selector, NEARLY_NOTHING);
    train(60, new BatchPlan(8, 3), one);
    assertThat(cursor(one)).isGreaterThan(1000 + 2 * (60 * 32 - 1000));
    for (BatchPlan plan : List.of(new BatchPlan(16, 0), new BatchPlan(8, 1))) {
      Replica[] two = {replica(selector, NEARLY_NOTHING), replica(selector, NEARLY_NOTHING)};
      train(60, plan, two);
      assertThat(choices(two[0])).isEqualTo(choices(one)).isEqualTo(choices(two[1]));
      assertThat(two[0].lostOrRepeated()).isZero();
    }
    Replica[] members =
        Stream.generate(() -> replica(selector, NEARLY_NOTHING)).limit(4).toArray(Replica[]::new);
    train(60, new BatchPlan(8, 0), members);
    assertThat(choices(members[3])).isEqualTo(choices(one));
  }

  @Tag("slow")
  @ParameterizedTest
  @CsvSource({
    "random:keep=0.5, 0.5",
    "random:keep=0.1, 0.1",
    "backprop:wholeEpochs=0, 0.25",
    "backprop:beta=1:wholeEpochs=0, 0.5"
  })
  void theShareIsThatOfTheSelectorAndTheAuditSeesAllThatWasJudged(String selector, double share)
      throws Exception {
    Replica replica = replica(selector, NEARLY_NOTHING);
    train(200, PLAN, replica);
    assertThat(3200.0 / cursor(replica)).isCloseTo(share, within(0.1 * share));
    assertThat(replica.progress().examples()).isEqualTo(3200);
    assertThat(replica.state().section(TrainingState.AUDIT).longs()[0]).isEqualTo(cursor(replica));
    assertThat(replica.state().section(TrainingState.TRAINED).longs())
        .isEqualTo(replica.state().section(TrainingState.CHOSEN).longs());
    assertThat(replica.lostOrRepeated()).isZero();
  }

  @Test
  void epochsAreThoseThatAreJudged() {
    Replica random = replica("random:keep=0.5", RATE, new Work.Epochs(4));
    assertThat(random.progress().totalScaleInvariantSteps()).isEqualTo(4 * 1000 * 0.5 / 16);
    Replica backprop = replica("backprop:beta=1", RATE, new Work.Epochs(4));
    assertThat(backprop.progress().totalScaleInvariantSteps())
        .as("the first epoch is trained whole")
        .isEqualTo((1000 + 3 * 1000 * 0.5) / 16);
  }

  @Tag("slow")
  @Test
  void aJoinerGoesOnWithTheSameBits() throws Exception {
    Replica first = replica("backprop:wholeEpochs=0", RATE);
    train(40, PLAN, first);
    assertThat(first.state().forms())
        .extracting(Section.Form::name)
        .endsWith(
            "noise",
            "audit.trained",
            "audit.chosen",
            "selector.backprop.losses",
            "selector.backprop.judged");
    Replica joiner = replica("backprop:wholeEpochs=0", RATE);
    try (Arena arena = Arena.ofConfined()) {
      joiner.restore(StateCodec.decode(StateCodec.encode(first.state(), arena)));
    }
    assertThat(StateDigest.of(joiner.state())).isEqualTo(StateDigest.of(first.state()));
    train(40, PLAN, first);
    train(40, PLAN, joiner);
    assertThat(StateDigest.of(joiner.state())).isEqualTo(StateDigest.of(first.state()));
    assertThat(joiner.progress()).isEqualTo(first.progress());
    assertThat(joiner.lostOrRepeated()).isZero();
  }

  @Test
  void aStateOfAnotherSelectorIsRefused() {
    Replica random = replica("random", RATE);
    Replica backprop = replica("backprop", RATE);
    assertThatThrownBy(() -> backprop.restore(random.state()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("selector.backprop.losses (1024)");
    assertThatThrownBy(() -> replica("", RATE).restore(random.state()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("audit.trained (2)");
  }

  /** A step that is taken again, as a replica died in a look or behind it, is the same step. */
  @Test
  void whatIsNotAppliedDidNotHappen() throws Exception {
    Replica disturbed = replica("backprop:wholeEpochs=0", RATE);
    Replica undisturbed = replica("backprop:wholeEpochs=0", RATE);
    for (int step = 0; step < 20; step++) {
      long digest = StateDigest.of(disturbed.state());
      int[] looks = {step % 4};
      assertThatThrownBy(() ->
              disturbed.select(
                  new BatchPlan(4, 7),
                  1,
                  0,
                  own -> {
                    if (looks[0]-- == 0) {
                      throw new RingBrokenException("a replica died");
                    }
                    return List.of(own);
                  }))
          .isInstanceOf(RingBrokenException.class);
      disturbed.select(PLAN, 1, 0, List::of);
      disturbed.compute(PLAN, 1, 0, _ -> {});
      assertThat(StateDigest.of(disturbed.state())).isEqualTo(digest);
      train(1, PLAN, disturbed);
      train(1, PLAN, undisturbed);
      assertThat(StateDigest.of(disturbed.state())).isEqualTo(StateDigest.of(undisturbed.state()));
    }
    assertThat(disturbed.lostOrRepeated()).isZero();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theAuditSeesWhatWasNotJudgedAndWhatWasNotTrained(boolean judged) throws Exception {
    Replica replica = replica("backprop:wholeEpochs=0", RATE);
    replica.select(PLAN, 1, 0, List::of);
    LocalStep own = replica.compute(PLAN, 1, 0, _ -> {});
    LocalStep other =
        new LocalStep(
            own.loss(),
            own.squaredNorms(),
            judged ? other(own.judged()) : own.judged(),
            judged ? own.trained() : other(own.trained()),
            own.passSeconds(),
            own.finite());
    replica.apply(List.of(other), PLAN);
    assertThat(replica.lostOrRepeated()).isEqualTo(2);
  }

  private static AuditDigest other(AuditDigest digest) {
    return new AuditDigest(digest.count(), digest.sum() + 1);
  }

  @Test
  void aReplicaThatGivesAnotherNumberOfLossesBreaksTheRing() {
    Replica replica = replica("backprop:wholeEpochs=0", RATE);
    List<byte[]> others = new ArrayList<>();
    assertThatThrownBy(() ->
            replica.select(
                PLAN,
                2,
                0,
                own -> {
                  others.add(own);
                  others.add(new byte[own.length - 1]);
                  return others;
                }))
        .isInstanceOf(RingBrokenException.class)
        .hasMessageContaining("bytes of losses");
  }

  @Test
  void aStepWithoutAChoiceIsAnErrorOfTheCaller() {
    Replica replica = replica("random", RATE);
    assertThatThrownBy(() -> replica.compute(PLAN, 1, 0, _ -> {}))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("not chosen yet");
  }
}
