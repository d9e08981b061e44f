package dev.kastor.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class EngineBenchmarkTest {
  private static final Instant NOW = Instant.parse("2026-11-22T12:00:00Z");

  private final List<String> journal = new ArrayList<>();
  private final List<String> progress = new ArrayList<>();

  private EngineResult measure(Contender.@Nullable Starter peer, int rounds) throws BenchException {
    EngineBenchmark benchmark =
        new EngineBenchmark(
            (_, _) -> new FakeContender("Kastor", 7, 100, journal),
            peer,
            10,
            rounds,
            progress::add);
    return benchmark.run(Workload.named("mlp"), 2);
  }

  private EngineResult both() throws BenchException {
    return measure((_, _) -> new FakeContender("Peer 1.0", 7, 200, journal), 3);
  }

  private static JsonNode json(EngineResult result) throws IOException {
    Machine machine = new Machine("Some CPU", 2, 1L << 34, "Linux 6", "25", 0.5);
    return new ObjectMapper().readTree(EngineJson.of(List.of(result), machine, NOW));
  }

  @Test
  void bothSidesWorkByTurnsAndTheOneThatBeginsChanges() throws BenchException {
    both();
    assertThat(journal)
        .containsExactly(
            "Kastor", "Peer 1.0", // warming up
            "Kastor", "Peer 1.0",
            "Peer 1.0", "Kastor",
            "Kastor", "Peer 1.0",
            "Peer 1.0 ended", "Kastor ended");
    assertThat(progress)
        .contains("mlp, 2 threads: warming up")
        .contains("mlp, 2 threads: round 2 of 3: 120.00 steps a second, peer 240.00, ratio 0.50");
  }

  @Test
  void theMedianOfTheRoundsCounts() throws BenchException {
    EngineResult result = both();
    assertThat(result.ours(Contender.Window::stepsPerSecond)).isCloseTo(120, within(1e-9));
    assertThat(result.peers(Contender.Window::stepsPerSecond)).isCloseTo(240, within(1e-9));
    assertThat(result.median(EngineResult.Round::ratio)).isCloseTo(0.5, within(1e-9));
    assertThat(result.median(EngineResult.Round::cpuRatio)).isCloseTo(0.5, within(1e-9));
    EngineResult two = measure(null, 2);
    assertThat(two.ours(Contender.Window::stepsPerSecond)).isCloseTo(115, within(1e-9));
  }

  @Test
  void writesACaseWithBothSides() throws Exception {
    JsonNode document = json(both());
    assertThat(document.get("schema").asText()).isEqualTo(EngineJson.SCHEMA);
    assertThat(document.get("date").asText()).isEqualTo("2026-11-22T12:00:00Z");
    assertThat(document.at("/machine/cpu").asText()).isEqualTo("Some CPU");
    JsonNode one = document.at("/cases/0");
    assertThat(one.get("model").asText()).isEqualTo("mlp");
    assertThat(one.get("device").asText()).isEqualTo("cpu");
    assertThat(one.get("threads").asInt()).isEqualTo(2);
    assertThat(one.get("precision").asText()).isEqualTo("fp32");
    assertThat(one.get("stepsPerSecond").asDouble()).isEqualTo(120);
    assertThat(one.get("peer").asText()).isEqualTo("Peer 1.0");
    assertThat(one.get("peerStepsPerSecond").asDouble()).isEqualTo(240);
    assertThat(one.get("ratio").asDouble()).isEqualTo(0.5);
    assertThat(one.get("minRatio").asDouble()).isEqualTo(0.5);
    assertThat(one.get("cpuMillisPerStep").asDouble()).isCloseTo(4.1667, within(1e-9));
    assertThat(one.get("firstStepSeconds").asDouble()).isEqualTo(1.5);
    assertThat(one.get("readySeconds").asDouble()).isCloseTo(1.5 - 1.0 / 120, within(1e-4));
    assertThat(one.get("peerReadySeconds").asDouble())
        .isCloseTo(one.get("peerFirstStepSeconds").asDouble() - 1.0 / 240, within(1e-4));
    assertThat(one.get("peakBytes").asLong()).isEqualTo(100_000_004);
    assertThat(one.get("peerPeakBytes").asLong()).isEqualTo(100_000_004);
    assertThat(one.get("rounds")).hasSize(3);
    assertThat(one.at("/rounds/2/peerSteps").asInt()).isEqualTo(2600);
  }

  @Test
  void withoutAPeerItsFiguresAreAbsent() throws Exception {
    JsonNode one = json(measure(null, 3)).at("/cases/0");
    assertThat(one.get("stepsPerSecond").asDouble()).isEqualTo(120);
    assertThat(one.has("peer")).isFalse();
    assertThat(one.has("ratio")).isFalse();
    assertThat(one.at("/rounds/0").has("ratio")).isFalse();
  }

  @Test
  void refusesToCompareDifferentModels() {
    assertThatExceptionOfType(BenchException.class)
        .isThrownBy(() -> measure((_, _) -> new FakeContender("Peer 1.0", 8, 200, journal), 3))
        .withMessageContaining("mlp has 7 parameters in Kastor but 8 in Peer 1.0");
    assertThat(journal).containsExactly("Peer 1.0 ended", "Kastor ended");
  }

  @Test
  void namesTheModelsThatThereAre() {
    assertThatExceptionOfType(BenchException.class)
        .isThrownBy(() -> Workload.named("gpt"))
        .withMessage(
            "there is no model 'gpt'; there are mlp, cnn, transformer, lstm, gru, resnet18, gpt2-small");
  }
}
