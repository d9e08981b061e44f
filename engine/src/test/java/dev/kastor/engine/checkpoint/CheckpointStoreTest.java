package dev.kastor.engine.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.train.Section;
import dev.kastor.engine.train.TrainingState;
import dev.kastor.protocol.CheckpointInfo;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("never-retried")
class CheckpointStoreTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

  private static final List<Section.Form> MODEL = model(4);
  private static final int HEADER_AND_UID = 24 + 5;

  @TempDir Path directory;
  private CheckpointStore store;

  @BeforeEach
  void open() throws IOException {
    store = open(3);
  }

  private static List<Section.Form> model(int parameters) {
    return States.random(1, parameters).forms();
  }

  private CheckpointStore open(int keepLast) throws IOException {
    return new CheckpointStore(directory, "uid-1", keepLast, InstantSource.fixed(NOW));
  }

  @Test
  void isEmptyAtFirst() throws IOException {
    assertThat(store.loadNewestValid(MODEL)).isEmpty();
  }

  @Test
  void returnsWhatWasSaved() throws IOException {
    TrainingState state = States.random(12, 4);
    CheckpointInfo info = store.save(state);

    CheckpointStore.Loaded loaded = open(3).loadNewestValid(MODEL).orElseThrow();
    assertThat(loaded.step()).isEqualTo(12);
    States.assertIdentical(loaded.state(), state);
    assertThat(info.bytes()).isEqualTo(Files.size(file(12)));
    assertThat(info.savedAtEpochMillis()).isEqualTo(NOW.toEpochMilli());
    assertThat(names()).containsExactly("step-12.ckpt");
  }

  @Test
  void keepsTheLastFew() throws IOException {
    for (int step = 10; step <= 60; step += 10) {
      store.save(States.random(step, 4));
    }
    assertThat(store.steps()).containsExactly(60L, 50L, 40L);
  }

  @Test
  void comparesStepsAsNumbers() throws IOException {
    store.save(States.random(9, 4));
    store.save(States.random(100, 4));

    assertThat(store.loadNewestValid(MODEL).orElseThrow().step()).isEqualTo(100);
  }

  @Tag("slow")
  @Test
  void detectsEverySingleByteChange() throws IOException {
    store.save(States.random(1, 4));
    store.save(States.random(2, 4));
    byte[] good = Files.readAllBytes(file(2));
    for (int i = 0; i < good.length; i++) {
      byte[] bad = good.clone();
      bad[i] ^= (byte) (1 << (i % 8));
      Files.write(file(2), bad);

      assertThat(store.loadNewestValid(MODEL).orElseThrow().step()).as("byte %d", i).isEqualTo(1);
    }
    Files.write(file(2), good);
    assertThat(store.loadNewestValid(MODEL).orElseThrow().step()).isEqualTo(2);
  }

  @Tag("slow")
  @Test
  void detectsEveryTruncationAndAnExtraByte() throws IOException {
    store.save(States.random(1, 4));
    store.save(States.random(2, 4));
    byte[] good = Files.readAllBytes(file(2));
    for (int length = 0; length < good.length; length++) {
      Files.write(file(2), Arrays.copyOf(good, length));
      assertThat(store.loadNewestValid(MODEL).orElseThrow().step())
          .as("length %d", length)
          .isEqualTo(1);
    }
    Files.write(file(2), Arrays.copyOf(good, good.length + 1));
    assertThat(store.loadNewestValid(MODEL).orElseThrow().step()).isEqualTo(1);
  }

  @Test
  void namesTheFileAndTheReason() throws IOException {
    store.save(States.random(2, 4));
    Files.write(file(2), new byte[10]);

    assertThatThrownBy(() -> store.load(2, MODEL))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining("step-2.ckpt")
        .hasMessageContaining("truncated");
  }

  @Test
  void refusesAFileOfAnotherJob() throws IOException {
    new CheckpointStore(directory, "uid-0", 3, InstantSource.fixed(NOW)).save(States.random(5, 4));

    assertThatThrownBy(() -> store.load(5, MODEL)).hasMessageContaining("uid-0");
    assertThat(store.loadNewestValid(MODEL)).isEmpty();
  }

  @Test
  void refusesAFileUnderAnotherStepsName() throws IOException {
    store.save(States.random(5, 4));
    Files.move(file(5), file(6));

    assertThatThrownBy(() -> store.load(6, MODEL)).hasMessageContaining("it holds step 5");
  }

  /** Right in all but its size; it takes no room on the disk. */
  @Test
  void skipsAFileOfASizeThatTheModelDoesNotHave() throws IOException {
    store.save(States.random(5, 4));
    byte[] header = Files.readAllBytes(file(5));
    long stateBytes = 300_000_000_000L;
    try (RandomAccessFile planted = new RandomAccessFile(file(999_999_999_999L).toFile(), "rw")) {
      planted.write(
          ByteBuffer.wrap(header, 0, HEADER_AND_UID)
              .order(ByteOrder.LITTLE_ENDIAN)
              .putLong(16, stateBytes)
              .array(),
          0,
          HEADER_AND_UID);
      planted.setLength(HEADER_AND_UID + stateBytes + 4);
    }

    assertThat(store.loadNewestValid(MODEL).orElseThrow().step()).isEqualTo(5);
  }

  @Test
  void doesNotStartAfreshWhereAllIsAnotherModels() throws IOException {
    store.save(States.random(5, 4));

    assertThatThrownBy(() -> store.loadNewestValid(model(5)))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining("another version of the program");
  }

  /** Taken for damage it would be removed once training from the beginning came to its step. */
  @Test
  void doesNotStartAfreshWhereANewerKastorWrote() throws IOException {
    store.save(States.random(5, 4));
    try (RandomAccessFile newer = new RandomAccessFile(file(5).toFile(), "rw")) {
      newer.seek(Long.BYTES);
      newer.write(StateCodec.VERSION + 1);
    }

    assertThatThrownBy(() -> store.loadNewestValid(MODEL))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining("its format version is 3 but only 1 and 2 are known")
        .hasMessageContaining("version of Kastor that wrote it");
  }

  @Test
  void anotherOptimizerIsRefusedWithTheSectionsOfBoth() throws IOException {
    float[] parameters = {1, 2, 3};
    store.save(States.state(5, parameters, Section.of("optimizer.sgd.velocity", new float[3])));
    List<Section.Form> longer =
        States.state(
                5,
                parameters,
                Section.of("optimizer.adam.first", new float[3]),
                Section.of("optimizer.adam.second", new float[3]))
            .forms();
    List<Section.Form> asLong =
        States.state(5, parameters, Section.of("optimizer.own.velocity", new float[3])).forms();
    assertThatThrownBy(() -> store.load(5, longer))
        .hasMessageContaining(
            "it holds optimizer.sgd.velocity (3) and the model optimizer.adam.first (3),"
                + " optimizer.adam.second (3)")
        .satisfies(e -> assertThat(((CheckpointException) e).otherModel()).isTrue());
    assertThatThrownBy(() -> store.load(5, asLong))
        .hasMessageContaining(
            "it holds optimizer.sgd.velocity (3) and the model optimizer.own.velocity (3)")
        .satisfies(e -> assertThat(((CheckpointException) e).otherModel()).isTrue());
  }

  @Test
  void neverLetsADamagedFileDisplaceAGoodOne() throws IOException {
    CheckpointStore two = open(2);
    two.save(States.random(1, 4));
    two.save(States.random(2, 4));
    Files.write(file(2), new byte[10]);

    CheckpointStore restarted = open(2);
    restarted.save(States.random(3, 4));

    assertThat(restarted.steps()).containsExactly(3L, 1L);
  }

  @Test
  void doesNotCountAFileThatWasFoundDamagedSince() throws IOException {
    CheckpointStore two = open(2);
    two.save(States.random(1, 4));
    two.save(States.random(2, 4));
    Files.write(file(2), new byte[10]);
    assertThatThrownBy(() -> two.load(2, MODEL)).isInstanceOf(CheckpointException.class);

    two.save(States.random(3, 4));

    assertThat(two.steps()).containsExactly(3L, 1L);
  }

  /** Another process may be ahead of this one, which resumed from an older checkpoint. */
  @Test
  void leavesFilesOfLaterStepsAlone() throws IOException {
    CheckpointStore one = open(1);
    one.save(States.random(10, 4));
    one.save(States.random(4, 4));
    one.save(States.random(5, 4));

    assertThat(one.steps()).containsExactly(10L, 5L);
  }

  @Test
  void removesAbandonedTemporaryFilesOnly() throws IOException {
    Path old = Files.write(directory.resolve("step-1.x.tmp"), new byte[1]);
    Files.setLastModifiedTime(old, FileTime.from(NOW.minusSeconds(3600)));
    Path young = Files.write(directory.resolve("step-1.y.tmp"), new byte[1]);
    Files.setLastModifiedTime(young, FileTime.from(NOW.minusSeconds(5)));
    Path foreign = Files.write(directory.resolve("notes.txt"), new byte[1]);

    store.save(States.random(2, 4));

    assertThat(old).doesNotExist();
    assertThat(young).exists();
    assertThat(foreign).exists();
  }

  @Tag("slow")
  @Test
  void servesReadersWhileAnotherProcessSaves() throws Exception {
    store.save(States.random(1, 2000));
    try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
      Future<?> writer =
          threads.submit(() -> {
            CheckpointStore other = open(2);
            for (int step = 2; step <= 60; step++) {
              other.save(States.random(step, 2000));
            }
            return null;
          });
      long newest = 0;
      while (!writer.isDone()) {
        CheckpointStore.Loaded loaded = store.loadNewestValid(model(2000)).orElseThrow();
        assertThat(loaded.step()).isGreaterThanOrEqualTo(newest);
        newest = loaded.step();
      }
      writer.get();
    }
    assertThat(store.loadNewestValid(model(2000)).orElseThrow().step()).isEqualTo(60);
  }

  private Path file(long step) {
    return directory.resolve("step-" + step + ".ckpt");
  }

  private String[] names() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(file -> file.getFileName().toString()).toArray(String[]::new);
    }
  }
}
