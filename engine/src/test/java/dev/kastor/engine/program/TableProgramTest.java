package dev.kastor.engine.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.train.ProgramException;
import dev.kastor.engine.train.Trainable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TableProgramTest {
  private static final int STEPS = 150;

  @TempDir Path folder;
  private Path data = Path.of("");

  /** Whether somebody buys follows from two columns together and from neither alone. */
  @BeforeEach
  void writeData() throws IOException {
    StringBuilder csv = new StringBuilder("city,device,label\n");
    for (int i = 0; i < 720; i++) {
      int city = i % 8;
      int device = i / 8 % 6;
      csv.append("c%d,d%d,%s\n".formatted(city, device, (city * 5 + device * 3) % 7 % 2));
    }
    data = Files.writeString(folder.resolve("sales.csv"), csv);
  }

  private double accuracy(Map<String, String> given) throws Exception {
    Map<String, String> parameters = new HashMap<>(given);
    parameters.put("data", data.toString());
    try (Trainable model = Programs.get("table-wide-deep").load(parameters)) {
      int[] all = IntStream.range(0, model.trainingExamples()).toArray();
      float[] gradient = new float[model.parameters().length];
      for (int step = 0; step < STEPS; step++) {
        model.pass(all, gradient, model.statistics());
        for (int i = 0; i < gradient.length; i++) {
          model.parameters()[i] -= 5 * gradient[i];
        }
      }
      return model.evaluate().value();
    }
  }

  @Tag("slow")
  @Test
  void pairsRememberWhatColumnsAloneDoNotTell() throws Exception {
    assertThat(accuracy(Map.of("hidden", "", "embedding", "1", "crosses", "none")))
        .as("a linear model of columns")
        .isLessThan(0.8);
    assertThat(accuracy(Map.of("hidden", "", "embedding", "1", "crosses", "city*device")))
        .as("and of their pairs")
        .isGreaterThan(0.99);
  }

  @Test
  void pairsAreNamedOrAll() {
    assertThatThrownBy(() -> accuracy(Map.of("crosses", "city")))
        .isInstanceOf(ProgramException.class)
        .hasMessage(
            "Parameter 'crosses' must be 'all', 'none' or pairs of columns such as 'a*b,c*d' but is 'city'.");
    assertThatThrownBy(() -> accuracy(Map.of("crosses", "city*town")))
        .hasMessageContaining("no column 'town' to pair; the header has: city, device");
  }
}
