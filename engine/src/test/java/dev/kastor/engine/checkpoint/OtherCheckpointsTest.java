package dev.kastor.engine.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.train.TrainingState;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OtherCheckpointsTest {
  /** More than one piece of a file, and no whole number of them. */
  private static final int PARAMETERS = 300_001;

  private static final int STATISTICS = 3;

  @TempDir Path directory;
  private OtherCheckpoints other;

  @BeforeEach
  void save() throws IOException {
    other = new OtherCheckpoints(directory, "uid-1");
    CheckpointStore store = store("uid-1");
    store.save(States.random(10, PARAMETERS));
    store.save(States.random(20, PARAMETERS));
  }

  private CheckpointStore store(String uid) throws IOException {
    return new CheckpointStore(directory, uid, 3, InstantSource.system());
  }

  @Test
  @Tag("never-retried")
  void theNewestOrThatOfAStepHasTheBitsThatWereSaved() throws IOException {
    assertSame(other.newest(PARAMETERS, STATISTICS), 20);
    assertSame(other.of(10, PARAMETERS, STATISTICS), 10);
  }

  private static void assertSame(TrainedParameters read, long step) {
    TrainingState saved = States.random(step, PARAMETERS);
    assertThat(read.step()).isEqualTo(step);
    assertThat(Arrays.equals(read.parameters(), saved.section(TrainingState.PARAMETERS).floats()))
        .isTrue();
    assertThat(Arrays.equals(read.statistics(), saved.section(TrainingState.STATISTICS).floats()))
        .isTrue();
  }

  @Test
  void aDamagedOneIsSkippedAndNamedWhereItsStepIsAskedFor() throws IOException {
    damage(20);
    assertSame(other.newest(PARAMETERS, STATISTICS), 10);
    assertThatThrownBy(() -> other.of(20, PARAMETERS, STATISTICS))
        .isInstanceOf(CheckpointException.class)
        .hasMessage("the one of step 20 cannot be used: its checksum does not match its content");
    damage(10);
    assertThatThrownBy(() -> other.newest(PARAMETERS, STATISTICS))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining("the one of step 10 cannot be used");
  }

  @Test
  void aDamagedLengthIsDamageAndNoOtherModel() throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(file(20).toFile(), "rw")) {
      // Of the first section: behind the header, the uid, the table's length, the name and type.
      file.seek(24 + 5 + 4 + 2 + 4 + 1);
      file.write(2);
    }
    assertThatThrownBy(() -> other.of(20, PARAMETERS, STATISTICS))
        .hasMessageContaining("its checksum does not match")
        .satisfies(e -> assertThat(((CheckpointException) e).otherModel()).isFalse());
  }

  @Test
  void anotherModelIsRefusedWithTheSizesOfBoth() {
    assertThatThrownBy(() -> other.newest(PARAMETERS + 1, STATISTICS))
        .isInstanceOf(CheckpointException.class)
        .hasMessage(
            "the one of step 20 cannot be used: it holds parameters (300001) and the model"
                + " parameters (300002)")
        .satisfies(e -> assertThat(((CheckpointException) e).otherModel()).isTrue());
  }

  @Test
  void whatAnotherJobWroteIsNotRead() throws IOException {
    Path elsewhere = directory.resolve("elsewhere");
    new CheckpointStore(elsewhere, "uid-2", 3, InstantSource.system())
        .save(States.random(30, PARAMETERS));
    Files.move(elsewhere.resolve("step-30.ckpt"), file(30));
    assertSame(other.newest(PARAMETERS, STATISTICS), 20);
    assertThatThrownBy(() -> other.of(30, PARAMETERS, STATISTICS))
        .hasMessageContaining("it belongs to the job with uid uid-2");
  }

  @Test
  void namesThatLeadNowhereEndTheSearch() throws IOException {
    Files.createSymbolicLink(directory.resolve("step-40.ckpt"), directory.resolve("gone"));
    Files.createFile(directory.resolve("step-030.ckpt"));
    assertSame(other.newest(PARAMETERS, STATISTICS), 20);
    Files.delete(file(10));
    Files.delete(file(20));
    assertThatThrownBy(() -> other.newest(PARAMETERS, STATISTICS))
        .isInstanceOf(CheckpointException.class)
        .hasMessage("it has saved none yet");
    assertThat(store("uid-1").loadNewestValid(List.of())).isEmpty();
    assertThatThrownBy(() -> other.of(10, PARAMETERS, STATISTICS))
        .isInstanceOf(NoSuchFileException.class);
  }

  @Test
  void nothingInTheDirectoryIsChanged() throws IOException {
    damage(20);
    List<String> before = names();
    other.newest(PARAMETERS, STATISTICS);
    assertThat(names()).isEqualTo(before);
  }

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  private void damage(long step) throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(file(step).toFile(), "rw")) {
      file.seek(file.length() / 2);
      int value = file.read();
      file.seek(file.length() / 2);
      file.write(value ^ 1);
    }
  }

  private Path file(long step) {
    return directory.resolve("step-" + step + ".ckpt");
  }
}
