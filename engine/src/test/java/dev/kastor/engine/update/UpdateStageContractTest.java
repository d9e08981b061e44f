package dev.kastor.engine.update;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.tensor.Shape;
import dev.kastor.engine.train.Update;
import dev.kastor.engine.train.UpdateStage;
import dev.kastor.engine.train.UpdateStagePlugin;
import dev.kastor.plugin.Options;
import java.util.List;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Contract of update stages, those of Kastor. */
class UpdateStageContractTest {
  private static final Layout LAYOUT =
      Layout.of(
          List.of("table", "hidden.weight", "hidden.bias", "conv.kernel", "one"),
          List.of(
              Shape.of(20, 6), Shape.of(6, 5), Shape.of(5), Shape.of(3, 3, 5, 4), Shape.of(1, 1)));

  static List<UpdateStagePlugin> stages() {
    return UpdateStages.BUILT_IN.all();
  }

  private static UpdateStage create(UpdateStagePlugin plugin) {
    return plugin.create(Options.usual(plugin), LAYOUT);
  }

  private static float[] gaussian(long seed, double deviation) {
    SplittableRandom random = new SplittableRandom(seed);
    float[] values = new float[LAYOUT.elements()];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) (random.nextGaussian() * deviation);
    }
    return values;
  }

  private static Update update(long step, double deviation) {
    SequencedMap<String, float[]> slots = new TreeMap<>();
    slots.put("velocity", gaussian(step + 100, deviation));
    return new Update(
        LAYOUT, gaussian(step, deviation), gaussian(step + 200, deviation), slots, 0.1, step);
  }

  private static void assertSame(Update one, Update other) {
    assertThat(one.parameters()).isEqualTo(other.parameters());
    assertThat(one.slot("velocity")).isEqualTo(other.slot("velocity"));
  }

  /** Whatever it was called with before: a replica that joins has seen none of it. */
  @ParameterizedTest
  @MethodSource("stages")
  @Tag("never-retried")
  void theSameUpdateBecomesTheSameBitsOnAllReplicas(UpdateStagePlugin plugin) {
    UpdateStage member = create(plugin);
    for (long step = 0; step < 20; step++) {
      Update there = update(step, 2);
      member.change(there);
      Update here = update(step, 2);
      create(plugin).change(here);
      assertSame(here, there);
    }
  }

  @ParameterizedTest
  @MethodSource("stages")
  void numbersStayFinite(UpdateStagePlugin plugin) {
    for (double deviation : new double[] {0, Float.MIN_NORMAL / 8, 1e-20, 1, 1e36}) {
      Update update = update(3, deviation);
      create(plugin).change(update);
      for (float value : update.parameters()) {
        assertThat(value).isFinite();
      }
      for (float value : update.slot("velocity")) {
        assertThat(value).isFinite();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.01, 1, 3})
  void maxNormShortensTheWeightsOfEachUnitAndNothingElse(double norm) {
    MaxNorm plugin = new MaxNorm();
    Options options = UpdateStages.BUILT_IN.choose("max-norm:norm=" + norm).options();
    Update update = update(1, 1);
    float[] before = update.parameters().clone();
    plugin.create(options, LAYOUT).change(update);
    assertThat(update.slot("velocity")).isEqualTo(update(1, 1).slot("velocity"));
    for (Layout.Entry entry : LAYOUT.entries()) {
      int units = entry.shape().rank() > 1 ? entry.shape().extent(-1) : entry.shape().elements();
      for (int unit = 0; unit < units; unit++) {
        double was = norm(before, entry, unit, units);
        double is = norm(update.parameters(), entry, unit, units);
        double most = entry.shape().rank() > 1 ? Math.min(was, norm) : was;
        assertThat(is / most).as("%s %d", entry.name(), unit).isBetween(1 - 1e-6, 1 + 1e-6);
        for (int i = entry.offset() + unit; i < entry.end(); i += units) {
          assertThat(update.parameters()[i] / before[i] * was / is)
              .as("the direction of %s %d", entry.name(), unit)
              .isBetween(1 - 1e-6, 1 + 1e-6);
          if (most == was) {
            assertThat(update.parameters()[i]).isEqualTo(before[i]);
          }
        }
      }
    }
  }

  private static double norm(float[] values, Layout.Entry entry, int unit, int units) {
    double squares = 0;
    for (int i = entry.offset() + unit; i < entry.end(); i += units) {
      squares += (double) values[i] * values[i];
    }
    return Math.sqrt(squares);
  }
}
