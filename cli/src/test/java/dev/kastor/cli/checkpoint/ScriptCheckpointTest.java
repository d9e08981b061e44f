package dev.kastor.cli.checkpoint;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.kastor.engine.checkpoint.CheckpointException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.TreeMap;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ScriptCheckpointTest {
  private static final JsonMapper JSON = new JsonMapper();

  /** A form as {@code kastor/tree.py} writes it: mappings as lists of pairs, tensors by place. */
  private static final String FORM =
      """
      {"d": [
        ["parts", {"d": [
          ["model", {"d": [["b.weight", {"x": 0}], ["a.counted", {"x": 2}], ["a.extra", null]]}],
          ["optimizer", {"d": [["state", {"x": 1}]]}]]}],
        ["counters", {"d": [["step", 40]]}]]}
      """;

  @TempDir Path folder;

  @Test
  void theModelAloneIsWrittenByItsNames() throws Exception {
    Path file = write("uid-1", "float32", bytes());
    ScriptCheckpoint found = ScriptCheckpoint.read(file, "uid-1");
    assertThat(found.step()).isEqualTo(40);
    assertThat(found.leftOut()).containsExactly("a.extra");
    assertThat(found.bytes()).isEqualTo(16);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    found.write(new TreeMap<>(), out);

    ByteBuffer written = ByteBuffer.wrap(out.toByteArray()).order(ByteOrder.LITTLE_ENDIAN);
    int length = (int) written.getLong();
    JsonNode header = JSON.readTree(out.toByteArray(), Long.BYTES, length);
    assertThat(header)
        .isEqualTo(
            JSON.readTree(
                """
                {"__metadata__": {"format": "pt", "kastor.step": "40"},
                 "a.counted": {"dtype": "I64", "shape": [], "data_offsets": [0, 8]},
                 "b.weight": {"dtype": "F32", "shape": [2, 1], "data_offsets": [8, 16]}}
                """));
    written.position(Long.BYTES + length);
    assertThat(written.getLong()).isEqualTo(40);
    assertThat(written.getFloat()).isEqualTo(1.5f);
    assertThat(written.getFloat()).isEqualTo(-2f);
    assertThat(written.hasRemaining()).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          cut|it is cut short
          tensor|tensor b.weight is damaged
          header|its header is damaged
          magic|it is no checkpoint of the Python client
          empty|it is no checkpoint of the Python client
          """)
  void saysWhatIsDamaged(String how, String message) throws Exception {
    Path file = write("uid-1", "float32", bytes());
    byte[] all = Files.readAllBytes(file);
    byte[] bad =
        switch (how) {
          case "cut" -> Arrays.copyOf(all, all.length - 8);
          case "empty" -> new byte[0];
          default -> all;
        };
    switch (how) {
      case "tensor" -> bad[all.length - 20] ^= 1;
      case "header" -> bad[40] ^= 1;
      case "magic" -> bad[0] = 'X';
      default -> {}
    }
    Files.write(file, bad);
    assertThatThrownBy(() -> ScriptCheckpoint.read(file, "uid-1"))
        .isInstanceOf(CheckpointException.class)
        .hasMessage("%s: %s".formatted(file, message));
  }

  @Test
  void isOfOneJobAndHasTypesThatTheFileCanHave() throws Exception {
    Path file = write("uid-2", "float32", bytes());
    assertThatThrownBy(() -> ScriptCheckpoint.read(file, "uid-1"))
        .hasMessageContaining("it is of another job, uid-2");
    write("uid-2", "complex128", bytes());
    assertThatThrownBy(() -> ScriptCheckpoint.read(file, "uid-2"))
        .hasMessageContaining("b.weight has the type 'complex128', which safetensors cannot have");
  }

  /** The weight, a state of the optimizer of 4 bytes, and the count. */
  private static byte[] bytes() {
    return ByteBuffer.allocate(20)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putFloat(1.5f)
        .putFloat(-2f)
        .putFloat(9f)
        .putLong(40)
        .array();
  }

  private Path write(String uid, String type, byte[] bytes) throws IOException {
    String table =
        "[[\"%s\", [2, 1], 0, 8, %d], [\"float32\", [1], 8, 4, %d], [\"int64\", [], 12, 8, %d]]"
            .formatted(type, code(bytes, 0, 8), code(bytes, 8, 4), code(bytes, 12, 8));
    byte[] header =
        "{\"job\": \"%s\", \"step\": 40, \"form\": %s, \"table\": %s}"
            .formatted(uid, FORM, table)
            .getBytes(UTF_8);
    ByteBuffer file =
        ByteBuffer.allocate(20 + header.length + bytes.length).order(ByteOrder.LITTLE_ENDIAN);
    file.put("KASTORP1".getBytes(US_ASCII)).putLong(header.length);
    file.putInt((int) code(header, 0, header.length)).put(header).put(bytes);
    return Files.write(folder.resolve("step-40.kpt"), file.array());
  }

  private static long code(byte[] bytes, int from, int count) {
    CRC32 sum = new CRC32();
    sum.update(bytes, from, count);
    return sum.getValue();
  }
}
