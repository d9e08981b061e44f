package dev.kastor.cli.job;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.cli.terminal.Paper;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class StartTableTest {
  @Test
  void eachStartIsALineOfItsParts() {
    assertThat(
            lines(
                "bert-0 2026-11-26T18:00:00Z image=1200 process=812 preparation=3100 wait=0"
                    + " state=170 first-step=410 from=peers total=5692",
                "bert-1 2026-11-26T18:00:00Z process=90 state=40 first-step=5 from=initial"))
        .satisfiesExactly(
            header -> assertThat(words(header)).startsWith("REPLICA", "IMAGE", "PROCESS"),
            line ->
                assertThat(words(line))
                    .startsWith("bert-0", "1.2", "s", "0.8", "s", "3.1", "s", "0.0", "s")
                    .endsWith("0.2", "s", "peers", "0.4", "s", "5.7", "s"),
            line ->
                assertThat(words(line))
                    .startsWith("bert-1", "unknown", "0.1", "s", "unknown", "unknown")
                    .endsWith("initial", "0.0", "s", "unknown"));
  }

  @Test
  void textThatIsNoStartIsLeftOut() {
    assertThat(lines("\u001b[2J", "bert-0 now image=1")).isEmpty();
    assertThat(lines()).isEmpty();
  }

  private static List<String> lines(String... starts) {
    TrainingJobStatus status =
        new ObjectMapper().convertValue(Map.of("starts", List.of(starts)), TrainingJobStatus.class);
    return StartTable.of(status).map(table -> table.lines(Paper.ENDLESS)).orElse(List.of());
  }

  private static List<String> words(String line) {
    return List.of(line.strip().split(" +", -1));
  }
}
