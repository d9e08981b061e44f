package dev.kastor.engine.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.train.Draws;
import dev.kastor.engine.train.Section;
import dev.kastor.engine.train.SyncPolicy;
import dev.kastor.engine.train.SyncPolicyPlugin;
import dev.kastor.engine.train.TrainingState;
import dev.kastor.plugin.Chosen;
import dev.kastor.protocol.Progress;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongToDoubleFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Contract of policies of rounds, those of Kastor, as they are and with other options.
 *
 * <p>No law is about replicas: a policy is not told how many there are.
 */
class SyncPolicyContractTest {
  private static final int ROUNDS = 1000;
  private static final int BATCH = 32;

  static Stream<String> policies() {
    return Stream.concat(
        SyncPolicies.BUILT_IN.names().stream(), Stream.of("local:steps=1", "local:steps=1000"));
  }

  private static SyncPolicy policy(String chosen) {
    Chosen<SyncPolicyPlugin> plugin = SyncPolicies.BUILT_IN.choose(chosen);
    return plugin.plugin().create(plugin.options());
  }

  /** A loss that falls, with noise, to a plateau. */
  private static double usual(long round) {
    return 2 + 8 * Math.exp(-round / 100.0) + Draws.uniform(3, 11, round);
  }

  private static SyncPolicy.AppliedRound round(long number, int steps, double loss) {
    long step = (number + 1) * steps;
    return new SyncPolicy.AppliedRound(
        new Progress(step, step, 1e6, step * BATCH, 0), steps, (long) steps * BATCH, loss, 0.1);
  }

  private static List<byte[]> bytes(SyncPolicy policy) {
    return policy.state().stream()
        .map(section -> section.values().toArray(ValueLayout.JAVA_BYTE))
        .toList();
  }

  private static void assertSame(SyncPolicy one, SyncPolicy other) {
    assertThat(one.period()).isEqualTo(other.period());
    assertThat(bytes(one)).usingElementComparator(Arrays::compare).isEqualTo(bytes(other));
  }

  @ParameterizedTest
  @MethodSource("policies")
  void allReplicasComeToTheSamePeriods(String chosen) {
    SyncPolicy one = policy(chosen);
    SyncPolicy other = policy(chosen);
    for (int number = 0; number < ROUNDS; number++) {
      assertSame(one, other);
      SyncPolicy.AppliedRound applied = round(number, one.period(), usual(number));
      one.applied(applied);
      other.applied(applied);
    }
  }

  @ParameterizedTest
  @MethodSource("policies")
  void onlyAnAppliedRoundChangesThePeriod(String chosen) {
    SyncPolicy asked = policy(chosen);
    SyncPolicy unasked = policy(chosen);
    for (int number = 0; number < ROUNDS; number++) {
      // Of a round that is taken again, as a replica died.
      int period = asked.period();
      assertThat(asked.period()).isEqualTo(period);
      SyncPolicy.AppliedRound applied = round(number, period, usual(number));
      asked.applied(applied);
      unasked.applied(applied);
    }
    assertSame(asked, unasked);
  }

  /** A replica that joins, or goes on from a checkpoint, has the arrays and nothing else. */
  @ParameterizedTest
  @MethodSource("policies")
  void theStateIsAllThatItKnows(String chosen) {
    SyncPolicy member = policy(chosen);
    List<Section.Form> forms = new TrainingState(member.state()).forms();
    List<SyncPolicy> joined = new ArrayList<>();
    for (int number = 0; number < ROUNDS; number++) {
      if (number % 111 == 0) {
        SyncPolicy joiner = policy(chosen);
        for (int other = 0; other < 70; other++) {
          joiner.applied(round(other, joiner.period(), -other));
        }
        new TrainingState(joiner.state()).copyFrom(new TrainingState(member.state()));
        joined.add(joiner);
      }
      SyncPolicy.AppliedRound applied = round(number, member.period(), usual(number));
      member.applied(applied);
      for (SyncPolicy joiner : joined) {
        joiner.applied(applied);
        assertThat(joiner.period()).isEqualTo(member.period());
      }
    }
    joined.forEach(joiner -> assertSame(joiner, member));
    assertThat(new TrainingState(member.state()).forms()).isEqualTo(forms);
  }

  @ParameterizedTest
  @MethodSource("policies")
  void thePeriodIsWithinItsBoundsWhateverTheLossesAre(String chosen) {
    List<LongToDoubleFunction> all =
        List.of(
            SyncPolicyContractTest::usual,
            _ -> 0,
            _ -> Double.NaN,
            _ -> Double.POSITIVE_INFINITY,
            _ -> -Double.MAX_VALUE,
            number -> number % 100 == 0 ? Double.NaN : 1,
            number -> number,
            number -> -number);
    for (LongToDoubleFunction losses : all) {
      SyncPolicy policy = policy(chosen);
      for (int number = 0; number < ROUNDS; number++) {
        assertThat(policy.period()).isBetween(1, SyncPolicy.MOST_STEPS);
        policy.applied(round(number, policy.period(), losses.applyAsDouble(number)));
      }
    }
  }

  @Test
  void localHasAsManyStepsAsItIsTold() {
    assertThat(policy("local").period()).isEqualTo(8);
    assertThat(policy("local:steps=20").period()).isEqualTo(20);
    for (String steps : List.of("0", "1001", "2.5")) {
      assertThatThrownBy(() -> policy("local:steps=" + steps))
          .hasMessageContaining("steps must be a whole number from 1 to 1000");
    }
  }
}
