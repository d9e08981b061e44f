package dev.kastor.engine.tune;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.engine.train.Draws;
import dev.kastor.engine.train.Section;
import dev.kastor.engine.train.TrainingState;
import dev.kastor.engine.train.Tuner;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongToDoubleFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Contract of tuners, those of Kastor, as they are and with options with which they do more in a
 * short job.
 *
 * <p>No law is about replicas: a tuner is not told how many there are.
 */
class TunerContractTest {
  private static final int STEPS = 4000;

  /** A loss that falls, with noise, to a plateau. */
  private static double usual(long step) {
    return 2 + 8 * Math.exp(-step / 300.0) + Draws.uniform(3, 11, step);
  }

  static Stream<String> tuners() {
    return Stream.concat(
        Tuners.BUILT_IN.names().stream(),
        Stream.of(
            "plateau:patience=50:threshold=0.05",
            "phases:warmUp=500:decay=linear:decayFrom=0.5",
            "phases:warmUp=10:decay=none"));
  }

  private static List<byte[]> bytes(Tuner tuner) {
    return tuner.state().stream()
        .map(section -> section.values().toArray(ValueLayout.JAVA_BYTE))
        .toList();
  }

  private static void assertSame(Tuner one, Tuner other) {
    assertThat(one.factor()).isEqualTo(other.factor());
    assertThat(bytes(one)).usingElementComparator(Arrays::compare).isEqualTo(bytes(other));
  }

  @Tag("slow")
  @ParameterizedTest
  @MethodSource("tuners")
  void allReplicasComeToTheSameFactors(String chosen) {
    Tuner one = Job.tuner(chosen);
    Tuner other = Job.tuner(chosen);
    Job job = new Job(STEPS);
    for (int step = 0; step < STEPS; step++) {
      assertSame(one, other);
      Tuner.AppliedStep applied = job.step(usual(step));
      one.applied(applied);
      other.applied(applied);
    }
    assertThat(one.factor()).as("does something").isNotEqualTo(Job.tuner(chosen).factor());
  }

  @ParameterizedTest
  @MethodSource("tuners")
  void onlyAnAppliedStepChangesTheFactor(String chosen) {
    Tuner asked = Job.tuner(chosen);
    Tuner unasked = Job.tuner(chosen);
    Job job = new Job(STEPS);
    for (int step = 0; step < STEPS; step++) {
      // Of a step that is taken again, as a replica died.
      double factor = asked.factor();
      assertThat(asked.factor()).isEqualTo(factor);
      Tuner.AppliedStep applied = job.step(usual(step));
      asked.applied(applied);
      unasked.applied(applied);
    }
    assertSame(asked, unasked);
  }

  /** A replica that joins, or goes on from a checkpoint, has the arrays and nothing else. */
  @ParameterizedTest
  @MethodSource("tuners")
  void theStateIsAllThatItKnows(String chosen) {
    Tuner member = Job.tuner(chosen);
    List<Section.Form> forms = new TrainingState(member.state()).forms();
    List<Tuner> joined = new ArrayList<>();
    Job job = new Job(STEPS);
    for (int step = 0; step < STEPS; step++) {
      if (step % 313 == 0) {
        Tuner joiner = Job.tuner(chosen);
        Job another = new Job(STEPS);
        for (int i = 0; i < 700; i++) {
          joiner.applied(another.step(-i));
        }
        new TrainingState(joiner.state()).copyFrom(new TrainingState(member.state()));
        joined.add(joiner);
      }
      Tuner.AppliedStep applied = job.step(usual(step));
      member.applied(applied);
      for (Tuner joiner : joined) {
        joiner.applied(applied);
        assertThat(joiner.factor()).isEqualTo(member.factor());
      }
    }
    joined.forEach(joiner -> assertSame(joiner, member));
    assertThat(new TrainingState(member.state()).forms()).isEqualTo(forms);
  }

  /** Of a job whose larger batches lose nothing, so that its losses go with its progress. */
  @ParameterizedTest
  @MethodSource("tuners")
  void theFactorGoesWithTheProgressWhateverTheBatchIs(String chosen) {
    List<Double> usual = factors(chosen, 1);
    for (double scale : new double[] {0.25, 2, 4, 50}) {
      assertThat(factors(chosen, scale)).as("scale %s", scale).isEqualTo(usual);
    }
  }

  /** The factors after each 200 steps at the initial batch. */
  private static List<Double> factors(String chosen, double scale) {
    List<Double> factors = new ArrayList<>();
    Tuner tuner = Job.tuner(chosen);
    Job job = new Job(STEPS);
    while (job.done() < STEPS) {
      double loss = Math.max(1, 8 - Math.floor(job.done() / 50));
      tuner.applied(job.step(loss, scale, scale));
      if (job.done() % 200 == 0) {
        factors.add(tuner.factor());
      }
    }
    assertThat(factors).hasSize(STEPS / 200);
    return factors;
  }

  @Tag("slow")
  @ParameterizedTest
  @MethodSource("tuners")
  void theFactorIsFiniteAndAboveZeroWhateverTheLossesAre(String chosen) {
    List<LongToDoubleFunction> all =
        List.of(
            TunerContractTest::usual,
            _ -> 0,
            _ -> Double.NaN,
            _ -> Double.POSITIVE_INFINITY,
            _ -> Double.NEGATIVE_INFINITY,
            _ -> Double.MAX_VALUE,
            _ -> -Double.MAX_VALUE,
            step -> step % 100 == 0 ? Double.NaN : 1,
            step -> step % 2 == 0 ? Double.POSITIVE_INFINITY : Double.NEGATIVE_INFINITY,
            step -> step,
            step -> -step);
    for (LongToDoubleFunction losses : all) {
      Tuner tuner = Job.tuner(chosen);
      Job job = new Job(STEPS);
      // A job may go a little beyond its work.
      for (int step = 0; step < STEPS + 100; step++) {
        assertThat(tuner.factor()).isPositive().isFinite();
        tuner.applied(job.step(losses.applyAsDouble(step)));
      }
    }
  }
}
