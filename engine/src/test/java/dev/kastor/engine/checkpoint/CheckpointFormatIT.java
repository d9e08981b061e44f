package dev.kastor.engine.checkpoint;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.engine.train.TrainingState;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The format as {@code docs/programs.md} describes it, without the code that reads it in Kastor.
 */
class CheckpointFormatIT {
  private static final Path PAGE =
      Path.of(System.getProperty("kastor.root", "..")).resolve("docs/programs.md");
  private static final TrainingState STATE =
      new TrainingState(
          40,
          12.5,
          2560,
          2559,
          -7,
          new float[] {1, 2, 4, 8.5f},
          new float[] {16, 32},
          new float[] {0.25f},
          new double[] {Math.PI, Math.E, 0.5, 3});

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
    assertThat(python.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(told.strip()).isEqualTo("an-üid 40 12.5 4 2 1 4 15.5");
  }

  @Test
  void everyFieldIsWhereThePageSays() throws Exception {
    byte[] bytes = Files.readAllBytes(saved());
    ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    assertThat(new String(bytes, 0, 8, UTF_8)).isEqualTo("KCROTSAK");
    assertThat(file.getInt(8)).isEqualTo(1);
    int u = file.getInt(12);
    long s = file.getLong(16);
    assertThat(bytes).hasSize((int) (28 + u + s));
    assertThat(new String(bytes, 24, u, UTF_8)).isEqualTo("an-üid");
    CRC32C crc = new CRC32C();
    crc.update(bytes, 0, bytes.length - 4);
    assertThat(file.getInt(bytes.length - 4)).isEqualTo((int) crc.getValue());

    ByteBuffer state = file.slice(24 + u, (int) s).order(ByteOrder.LITTLE_ENDIAN);
    assertThat(state.getLong(0)).isEqualTo(40);
    assertThat(state.getDouble(8)).isEqualTo(12.5);
    assertThat(state.getLong(16)).isEqualTo(2560);
    assertThat(state.getLong(24)).isEqualTo(2559);
    assertThat(state.getLong(32)).isEqualTo(-7);
    int p = state.getInt(40);
    int o = state.getInt(44);
    int b = state.getInt(48);
    int n = state.getInt(52);
    assertThat(new int[] {p, o, b, n}).containsExactly(4, 2, 1, 4);
    assertThat(s).isEqualTo(56 + 4L * (p + o + b) + 8L * n);
    assertThat(state.getFloat(56 + 4 * 3)).isEqualTo(8.5f);
    assertThat(state.getFloat(56 + 4 * p)).isEqualTo(16);
    assertThat(state.getFloat(56 + 4 * (p + o))).isEqualTo(0.25f);
    assertThat(state.getDouble(56 + 4 * (p + o + b) + 8)).isEqualTo(Math.E);
  }

  private Path saved() throws Exception {
    new CheckpointStore(folder, "an-üid", 1, InstantSource.system()).save(STATE);
    return folder.resolve("step-40.ckpt");
  }
}
