package dev.kastor.engine.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StepProcessTest {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private static List<String> serve(String model, String input) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    StepProcess.serve(
        BenchModel.of(MAPPER.readTree(model)),
        1,
        new StringReader(input),
        new PrintStream(bytes, true, StandardCharsets.UTF_8));
    return bytes.toString(StandardCharsets.UTF_8).lines().toList();
  }

  @Tag("slow")
  @ParameterizedTest
  @ValueSource(
      strings = {
        """
        {"kind": "mlp", "batch": 4, "inputs": 6, "hidden": [5], "classes": 3}
        """,
        """
        {"kind": "cnn", "batch": 4, "channels": 1, "side": 4, "classes": 3, "widths": [2],
         "hidden": 5}
        """,
        """
        {"kind": "resnet", "batch": 4, "channels": 3, "side": 4, "classes": 3, "stem": 2,
         "blocks": [1, 1]}
        """,
        """
        {"kind": "transformer", "batch": 2, "context": 4, "width": 8, "heads": 2, "layers": 1}
        """,
        """
        {"kind": "recurrent", "cell": "lstm", "batch": 2, "context": 3, "vocabulary": 5,
         "embedding": 3, "hidden": 4}
        """,
        """
        {"kind": "recurrent", "cell": "gru", "batch": 2, "context": 3, "vocabulary": 5,
         "embedding": 3, "hidden": 4}
        """
      })
  void trainsEveryKindOfModel(String model) throws IOException {
    List<String> lines = serve(model, "{\"seconds\": 0}\n{\"seconds\": 0.01}\n");
    assertThat(lines).hasSize(3);
    JsonNode first = MAPPER.readTree(lines.get(0));
    assertThat(first.get("device").asText()).isIn("cpu", "reference");
    assertThat(first.get("parameters").asInt()).isPositive();
    JsonNode shortest = MAPPER.readTree(lines.get(1));
    assertThat(shortest.get("steps").asInt()).isEqualTo(1);
    JsonNode longer = MAPPER.readTree(lines.get(2));
    assertThat(longer.get("seconds").asDouble()).isGreaterThanOrEqualTo(0.01);
    assertThat(longer.get("cpuSeconds").asDouble()).as("counted in ticks").isNotNegative();
    assertThat(longer.get("loss").asDouble()).isLessThan(first.get("loss").asDouble());
  }

  @Test
  void namesWhatAModelLacks() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> serve("{\"kind\": \"tree\"}", ""))
        .withMessageContaining("no kind of model 'tree'");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> serve("{\"kind\": \"mlp\", \"batch\": 1, \"inputs\": 1}", ""))
        .withMessageContaining("no field 'hidden'");
  }
}
