package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.checkpoint.StateCodec;
import dev.kastor.engine.optim.AdaScale;
import dev.kastor.engine.optim.Adam;
import dev.kastor.engine.optim.Sgd;
import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.tensor.Shape;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.Section;
import dev.kastor.engine.train.TrainingState;
import dev.kastor.protocol.BatchPlan;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Laws of the sections of a replica's state. */
@Tag("never-retried")
class ReplicaStateTest {
  private static final BatchPlan PLAN = new BatchPlan(8, 1);

  private static Replica replica(Optimizer optimizer) {
    return new Replica(
        new LinearModel(),
        optimizer,
        new TrainingSettings(
            16,
            0.02,
            new AdaScale(),
            new Work.Steps(1000),
            5,
            Duration.ofDays(1),
            Duration.ofDays(1)));
  }

  private static Replica adam() {
    return replica(new Adam(0.9, 0.999, 1e-8, 0.01));
  }

  private static void train(Replica replica, int steps) throws DivergedException {
    for (int step = 0; step < steps; step++) {
      replica.apply(List.of(replica.compute(PLAN, 1, 0, _ -> {})), PLAN);
    }
  }

  @Test
  void aReplicaThatTakesOverAStateGoesOnWithTheSameBits() throws Exception {
    Replica first = adam();
    train(first, 20);
    Replica joiner = adam();
    try (Arena arena = Arena.ofConfined()) {
      joiner.restore(StateCodec.decode(StateCodec.encode(first.state(), arena)));
    }
    train(first, 20);
    train(joiner, 20);
    assertThat(StateDigest.of(joiner.state())).isEqualTo(StateDigest.of(first.state()));
    assertThat(joiner.progress()).isEqualTo(first.progress());
    assertThat(joiner.lostOrRepeated()).isZero();
  }

  @Test
  void aCopyIsTheStateToGoBackTo() throws Exception {
    Replica replica = adam();
    train(replica, 5);
    TrainingState before = replica.state().copy();
    long digest = StateDigest.of(before);
    train(replica, 5);
    assertThat(StateDigest.of(replica.state())).isNotEqualTo(digest);
    replica.restore(before);
    assertThat(StateDigest.of(replica.state())).isEqualTo(digest);
  }

  @Test
  void eachElementOfEachSectionIsInTheDigest() throws Exception {
    Replica replica = adam();
    train(replica, 3);
    long digest = StateDigest.of(replica.state());
    assertThat(replica.state().forms())
        .extracting(Section.Form::name)
        .containsExactly(
            "step",
            "scale-invariant-steps",
            "sampler.cursor",
            "audit",
            "parameters",
            "optimizer.adam.first",
            "optimizer.adam.second",
            "statistics",
            "noise");
    for (Section.Form form : replica.state().forms()) {
      for (long element = 0; element < form.length(); element++) {
        TrainingState changed = replica.state().copy();
        Section section = changed.section(form.name());
        long at = element * form.type().bytes();
        byte value = section.values().get(ValueLayout.JAVA_BYTE, at);
        section.values().set(ValueLayout.JAVA_BYTE, at, (byte) (value ^ 1));
        assertThat(StateDigest.of(changed)).as("%s %d", form, element).isNotEqualTo(digest);
      }
    }
  }

  @Test
  void printsNameEachTensorOfWhatHasTheFormOfTheParameters() {
    Layout layout = Layout.of(List.of("a.weight", "a.bias"), List.of(Shape.of(5, 7), Shape.of(2)));
    TrainingState state = adam().state();
    List<StateDigest.Print> prints = StateDigest.prints(state, layout);
    assertThat(prints)
        .extracting(StateDigest.Print::name)
        .containsExactly(
            "step",
            "scale-invariant-steps",
            "sampler.cursor",
            "audit",
            "parameters.a.weight",
            "parameters.a.bias",
            "optimizer.adam.first.a.weight",
            "optimizer.adam.first.a.bias",
            "optimizer.adam.second.a.weight",
            "optimizer.adam.second.a.bias",
            "statistics",
            "noise");
    state.section("optimizer.adam.second").floats()[35] = 1;
    List<StateDigest.Print> changed = StateDigest.prints(state, layout);
    assertThat(changed.stream().filter(print -> !prints.contains(print)))
        .extracting(StateDigest.Print::name)
        .containsExactly("optimizer.adam.second.a.bias");
  }

  @Test
  void signsThatChangeTogetherChangeTheDigest() {
    Replica replica = adam();
    long digest = StateDigest.of(replica.state());
    for (int other = 1; other < LinearModel.FEATURES; other++) {
      TrainingState changed = replica.state().copy();
      float[] parameters = changed.section(TrainingState.PARAMETERS).floats();
      parameters[0] = -parameters[0];
      parameters[other] = -parameters[other];
      assertThat(StateDigest.of(changed)).as("0 and %d", other).isNotEqualTo(digest);
    }
  }

  @Test
  void aStateOfAnotherOptimizerIsRefusedAndChangesNothing() throws Exception {
    Replica sgd = replica(new Sgd(0.9, 0));
    Replica adam = adam();
    train(adam, 3);
    long digest = StateDigest.of(sgd.state());
    assertThatThrownBy(() -> sgd.restore(adam.state()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(
            "it holds optimizer.adam.first (37), optimizer.adam.second (37) and the model"
                + " optimizer.sgd.velocity (37)");
    assertThat(StateDigest.of(sgd.state())).isEqualTo(digest);
  }

  @Test
  void namesOfSectionsAreUnique() {
    List<Section> twice = new ArrayList<>();
    twice.add(Section.of(TrainingState.STEP, 1L));
    twice.add(Section.of(TrainingState.STEP, 2L));
    assertThatThrownBy(() -> new TrainingState(twice)).hasMessageContaining("called step");
  }
}
