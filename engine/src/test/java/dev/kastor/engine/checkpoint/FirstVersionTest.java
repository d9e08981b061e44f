package dev.kastor.engine.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.train.Section;
import dev.kastor.engine.train.TrainingState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reads a file of version 1 as the code of that version wrote it. */
@Tag("never-retried")
class FirstVersionTest {
  private static final Path WRITTEN = Path.of("src/test/resources/checkpoint/version-1.ckpt");
  private static final String UID = "an-üid";

  @TempDir private Path folder;
  private CheckpointStore store;

  @BeforeEach
  void copy() throws IOException {
    Files.copy(WRITTEN, folder.resolve("step-40.ckpt"));
    store = new CheckpointStore(folder, UID, 1, InstantSource.system());
  }

  private static TrainingState state(Section... optimizer) {
    List<Section> sections = new ArrayList<>();
    sections.add(Section.of(TrainingState.STEP, 40L));
    sections.add(Section.of(TrainingState.SCALE_INVARIANT_STEPS, 12.5));
    sections.add(Section.of(TrainingState.CURSOR, 2560L));
    sections.add(Section.of(TrainingState.AUDIT, 2559L, -7L));
    sections.add(Section.of(TrainingState.PARAMETERS, new float[] {1, 2, 4, 8.5f}));
    sections.addAll(List.of(optimizer));
    sections.add(Section.of(TrainingState.STATISTICS, new float[] {0.25f}));
    sections.add(Section.of(TrainingState.NOISE, Math.PI, Math.E, 0.5, 3));
    return new TrainingState(sections);
  }

  @Test
  void theValuesOfTheOptimizerAreThoseOfItsSlotsOneAfterTheOther() throws Exception {
    TrainingState state =
        state(
            Section.of("optimizer.adam.first", new float[] {16, 32, 64, 128}),
            Section.of("optimizer.adam.second", new float[] {0.5f, 0.75f, 1.5f, -0f}));
    States.assertIdentical(store.loadNewestValid(state.forms()).orElseThrow().state(), state);
    store.save(state);
    States.assertIdentical(store.load(40, state.forms()), state);
  }

  @Test
  void anotherOptimizerIsRefused() {
    List<Section.Form> sgd = state(Section.of("optimizer.sgd.velocity", new float[4])).forms();
    assertThatThrownBy(() -> store.load(40, sgd))
        .hasMessageContaining(
            "it holds optimizer (8) and the model optimizer.sgd.velocity (4): it belongs to another"
                + " version of the program")
        .satisfies(e -> assertThat(((CheckpointException) e).otherModel()).isTrue());
    List<Section.Form> further =
        state(
                Section.of("optimizer.own.slot", new float[6]),
                Section.of("optimizer.own.numbers", new double[1]))
            .forms();
    assertThatThrownBy(() -> store.load(40, further))
        .hasMessageContaining("it holds optimizer (8)");
  }

  @Test
  void aWarmStartTakesParametersAndStatistics() throws Exception {
    TrainedParameters trained = new OtherCheckpoints(folder, UID).newest(4, 1);
    assertThat(trained.step()).isEqualTo(40);
    assertThat(trained.parameters()).containsExactly(1, 2, 4, 8.5f);
    assertThat(trained.statistics()).containsExactly(0.25f);
  }

  @Test
  void everyChangedByteIsFound() throws Exception {
    byte[] good = Files.readAllBytes(WRITTEN);
    List<Section.Form> model = state(Section.of("optimizer.own.slot", new float[8])).forms();
    assertThat(store.loadNewestValid(model)).isPresent();
    for (int i = 0; i < good.length; i++) {
      byte[] bad = good.clone();
      bad[i] ^= (byte) (1 << (i % 8));
      Files.write(folder.resolve("step-40.ckpt"), bad);
      assertThatThrownBy(() -> store.load(40, model))
          .as("byte %d", i)
          .isInstanceOf(CheckpointException.class);
    }
  }
}
