package dev.kastor.engine.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.engine.train.Section;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever somebody put under the name of a checkpoint is skipped, and saving goes on. */
@Tag("never-retried")
class PlantsTest {
  private static final List<Section.Form> MODEL = States.random(1, 4).forms();

  @TempDir Path directory;

  static Stream<String> plants() throws IOException {
    try (var list = Objects.requireNonNull(PlantsTest.class.getResourceAsStream("plants.txt"))) {
      return new String(list.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .filter(line -> !line.isBlank() && !line.startsWith("#"));
    }
  }

  @ParameterizedTest
  @MethodSource("plants")
  void aPlantIsSkippedAndSavingGoesOn(String name) throws Exception {
    store().save(States.random(5, 4));
    plant(name, CheckpointStore.file(directory, 99));

    CheckpointStore store = store();
    assertThat(store.loadNewestValid(MODEL).orElseThrow().step()).isEqualTo(5);
    store.save(States.random(100, 4));
    store.save(States.random(101, 4));
    assertThat(store().loadNewestValid(MODEL).orElseThrow().step()).isEqualTo(101);
    assertThat(CheckpointStore.file(directory, 5)).as("retention works on").doesNotExist();
  }

  private CheckpointStore store() throws IOException {
    return new CheckpointStore(
        directory, "uid-1", 2, InstantSource.fixed(Instant.parse("2026-01-01T00:00:00Z")));
  }

  private void plant(String name, Path at) throws Exception {
    byte[] good = Files.readAllBytes(CheckpointStore.file(directory, 5));
    switch (name) {
      case "pipe" ->
          assertThat(new ProcessBuilder("mkfifo", at.toString()).start().waitFor()).isZero();
      case "folder" -> Files.createDirectory(at);
      case "socket" -> socket(at);
      case "link-to-itself" -> Files.createSymbolicLink(at, at);
      case "dangling-link" -> Files.createSymbolicLink(at, Path.of("nowhere"));
      case "link-to-endless-zeros" -> Files.createSymbolicLink(at, Path.of("/dev/zero"));
      case "empty" -> Files.write(at, new byte[0]);
      case "text" -> Files.writeString(at, "a checkpoint\n".repeat(100));
      case "start-of-a-good-one" -> Files.write(at, Arrays.copyOf(good, good.length - 3));
      case "good-one-with-bytes-behind" -> Files.write(at, Arrays.copyOf(good, good.length + 4));
      case "good-one-with-a-changed-bit" -> {
        good[good.length - 1] ^= 1;
        Files.write(at, good);
      }
      case "huge-length-of-the-header" -> Files.write(at, changed(good, 12, Integer.MAX_VALUE));
      case "huge-length-of-the-state" -> Files.write(at, changed(good, 16, 1L << 46));
      case "negative-length" -> Files.write(at, changed(good, 16, -1L));
      case "file-with-holes" -> holes(at, good);
      case "header-of-another-form" -> Files.write(at, changed(good, 8, 99));
      // Nothing in the header of this format nests: as long as that one, and as wrong.
      case "deeply-nested-header" -> Files.writeString(at, "[".repeat(200_000));
      case "number-too-long-for-a-step" ->
          Files.writeString(at.resolveSibling("step-99999999999999999999.ckpt"), "x");
      default -> throw new IllegalArgumentException("nobody makes the plant " + name);
    }
  }

  /** The name of a socket may be short only, and whatever the folder of the test is called. */
  private static void socket(Path at) throws IOException {
    Path near = Files.createTempDirectory(Path.of("/tmp"), "s");
    try (ServerSocketChannel made = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      made.bind(UnixDomainSocketAddress.of(near.resolve("s")));
      Files.move(near.resolve("s"), at);
    } finally {
      Files.delete(near);
    }
  }

  private static byte[] changed(byte[] good, int at, long value) {
    ByteBuffer.wrap(good).order(ByteOrder.LITTLE_ENDIAN).putLong(at, value);
    return good;
  }

  private static byte[] changed(byte[] good, int at, int value) {
    ByteBuffer.wrap(good).order(ByteOrder.LITTLE_ENDIAN).putInt(at, value);
    return good;
  }

  private static void holes(Path at, byte[] good) {
    try (RandomAccessFile file = new RandomAccessFile(at.toFile(), "rw")) {
      file.write(changed(good, 16, 1L << 40), 0, 40);
      file.setLength(1L << 41);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
