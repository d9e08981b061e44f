package dev.kastor.engine.checkpoint;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.engine.train.Section;
import dev.kastor.engine.train.TrainingState;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The format as {@code docs/programs.md} describes it, without the code that reads it in Kastor.
 */
@Tag("never-retried")
class CheckpointFormatIT {
  private static final Path PAGE =
      Path.of(System.getProperty("kastor.root", "..")).resolve("docs/programs.md");
  private static final TrainingState STATE =
      new TrainingState(
          List.of(
              Section.of(TrainingState.STEP, 40L),
              Section.of(TrainingState.SCALE_INVARIANT_STEPS, 12.5),
              Section.of(TrainingState.CURSOR, 2560L),
              Section.of(TrainingState.AUDIT, 2559L, -7L),
              Section.of(TrainingState.PARAMETERS, new float[] {1, 2, 4, 8.5f}),
              Section.of("optimizer.sgd.velocity", new float[] {16, 32}),
              Section.of(TrainingState.STATISTICS, new float[] {0.25f}),
              Section.of(TrainingState.NOISE, Math.PI, Math.E, 0.5, 3)));

  @TempDir private Path folder;

  @Test
  void theScriptOfThePageReadsACheckpoint() throws Exception {
    Path file = saved();
    var block = Pattern.compile("```python\n(import array.*?)```", Pattern.DOTALL);
    var script = block.matcher(Files.readString(PAGE));
    assertThat(script.find()).isTrue();
    Process python =
        new ProcessBuilder("python3", "-c", script.group(1), file.toString())
            .redirectErrorStream(true)
            .start();
    String told = new String(python.getInputStream().readAllBytes(), UTF_8);
    python.waitFor();
    assertThat(told.strip()).isEqualTo("an-üid 40 12.5 4 15.5 optimizer.sgd.velocity");
  }

  @Test
  void everyFieldIsWhereThePageSays() throws Exception {
    byte[] bytes = Files.readAllBytes(saved());
    ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    assertThat(new String(bytes, 0, 8, UTF_8)).isEqualTo("KCROTSAK");
    assertThat(file.getInt(8)).isEqualTo(2);
    int u = file.getInt(12);
    long s = file.getLong(16);
    assertThat(bytes).hasSize((int) (28 + u + s));
    assertThat(new String(bytes, 24, u, UTF_8)).isEqualTo("an-üid");
    CRC32C crc = new CRC32C();
    crc.update(bytes, 0, bytes.length - 4);
    assertThat(file.getInt(bytes.length - 4)).isEqualTo((int) crc.getValue());

    ByteBuffer state = file.slice(24 + u, (int) s).order(ByteOrder.LITTLE_ENDIAN);
    int t = state.getInt();
    int first = 4 + t;
    for (Section section : STATE.sections()) {
      byte[] name = new byte[state.getShort()];
      state.get(name);
      assertThat(new String(name, UTF_8)).isEqualTo(section.name());
      assertThat(state.get()).isEqualTo((byte) section.type().number());
      long elements = state.getLong();
      assertThat(elements).isEqualTo(section.form().length());
      for (long i = 0; i < elements; i++) {
        switch (section.type()) {
          case F32 -> assertThat(state.getFloat(first)).isEqualTo(section.floats()[(int) i]);
          case F64 -> assertThat(state.getDouble(first)).isEqualTo(section.doubles()[(int) i]);
          case I64 -> assertThat(state.getLong(first)).isEqualTo(section.longs()[(int) i]);
        }
        first += section.type().bytes();
      }
    }
    assertThat(state.position()).isEqualTo(4 + t);
    assertThat((long) first).isEqualTo(s);
  }

  private Path saved() throws Exception {
    new CheckpointStore(folder, "an-üid", 1, InstantSource.system()).save(STATE);
    return folder.resolve("step-40.ckpt");
  }
}
