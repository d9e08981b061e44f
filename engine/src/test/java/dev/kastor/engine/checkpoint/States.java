package dev.kastor.engine.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.engine.train.Section;
import dev.kastor.engine.train.TrainingState;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Training states for tests. */
final class States {
  private States() {}

  /** A state with random content, NaN and negative zero included. */
  static TrainingState random(long step, int parameters) {
    SplittableRandom random = new SplittableRandom(step);
    float[] values = new float[parameters];
    for (int i = 0; i < parameters; i++) {
      values[i] = (float) random.nextGaussian();
    }
    if (parameters > 2) {
      values[0] = Float.NaN;
      values[1] = -0f;
    }
    float[] first = new float[parameters];
    float[] second = new float[parameters];
    for (int i = 0; i < parameters; i++) {
      first[i] = (float) random.nextGaussian();
      second[i] = (float) random.nextGaussian();
    }
    return state(
        step,
        values,
        Section.of("optimizer.adam.first", first),
        Section.of("optimizer.adam.second", second));
  }

  /** A state with other parameters and other sections of the optimizer. */
  static TrainingState state(long step, float[] parameters, Section... optimizer) {
    List<Section> sections = new ArrayList<>();
    sections.add(Section.of(TrainingState.STEP, step));
    sections.add(Section.of(TrainingState.SCALE_INVARIANT_STEPS, step * 1.25));
    sections.add(Section.of(TrainingState.CURSOR, step * 64));
    sections.add(Section.of(TrainingState.AUDIT, step * 64, step * 0x9e3779b97f4a7c15L));
    sections.add(Section.of(TrainingState.PARAMETERS, parameters));
    sections.addAll(List.of(optimizer));
    sections.add(Section.of(TrainingState.STATISTICS, new float[] {1, 2, 3}));
    sections.add(Section.of(TrainingState.NOISE, Math.PI, Double.MIN_VALUE));
    return new TrainingState(sections);
  }

  /** Checks that two states agree in every bit. */
  static void assertIdentical(TrainingState actual, TrainingState expected) {
    assertThat(actual.forms()).isEqualTo(expected.forms());
    for (Section section : expected.sections()) {
      assertThat(actual.section(section.name()).values().mismatch(section.values()))
          .as(section.name())
          .isEqualTo(-1);
    }
  }
}
