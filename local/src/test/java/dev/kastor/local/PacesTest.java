package dev.kastor.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class PacesTest {
  private static final Map<String, String> PACE = Map.of("KASTOR_PACE", "0.008 0.0026");

  private final Paces paces = new Paces(Map.of("glyph-cnn", "0.008 0.0026", "cnn", "0.008 0.0026"));

  private Map<String, String> of(String spec, String... command) {
    return paces.of(Map.of("KASTOR_JOB_SPEC", spec), List.of(command));
  }

  @Test
  void replicasHaveThePaceOfTheirProgramOrScript() {
    assertThat(of("{\"program\": {\"name\": \"glyph-cnn\"}}", "java")).isEqualTo(PACE);
    assertThat(of("{}", "python", "-u", "train/cnn.py", "other.py")).isEqualTo(PACE);
  }

  @Test
  void whatHasNoPaceIsNotPaced() {
    assertThat(of("{\"program\": {\"name\": \"byte-lm\"}}", "java", "cnn.py")).isEmpty();
    assertThat(of("{}", "python", "gpt.py")).isEmpty();
    assertThat(of("{}", "sh", "-c", "true")).isEmpty();
    assertThat(of("no JSON", "cnn.py")).isEmpty();
  }

  @Test
  void processesThatAreNoReplicasAreNotPaced() {
    assertThat(paces.of(Map.of(), List.of("python", "cnn.py"))).isEmpty();
  }
}
