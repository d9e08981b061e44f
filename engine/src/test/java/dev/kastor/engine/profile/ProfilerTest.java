package dev.kastor.engine.profile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.engine.backend.KernelObserver;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProfilerTest {
  private static final KernelObserver.Kernel PRODUCT =
      new KernelObserver.Kernel("mat mul", "[2, 3]", List.of("[2, 4]", "[4, 3]"), 104, 500);
  private static final KernelObserver.Kernel SUM =
      new KernelObserver.Kernel("reduce sum(relu)", "[3]", List.of("[2, 3]"), 36, 300);

  @TempDir Path folder;

  private final Profiler profiler = new Profiler();
  private final KernelObserver.Runs product = profiler.compiled(PRODUCT);
  private final KernelObserver.Runs sum = profiler.compiled(SUM);

  /** Two steps: the product takes 3 and 5 microseconds, the sum 1 each. */
  private void twoSteps() {
    profiler.start();
    long now = System.nanoTime();
    product.ran(now, now + 3000);
    sum.ran(now + 3000, now + 4000);
    profiler.span("pass", now, now + 4500);
    product.ran(now + 10_000, now + 15_000);
    sum.ran(now + 15_000, now + 16_000);
    profiler.span("pass", now + 9000, now + 17_000);
    profiler.span("update", now + 17_000, now + 18_000);
  }

  @Test
  void addsUpWhatComputesTheSameTheLongestFirst() {
    twoSteps();
    assertThat(Totals.of(profiler))
        .containsExactly(
            new Totals("mat mul", "[2, 3]", List.of("[2, 4]", "[4, 3]"), 2, 8000, 208),
            new Totals("reduce sum(relu)", "[3]", List.of("[2, 3]"), 2, 2000, 72));
    assertThat(Totals.spans(profiler))
        .containsEntry("pass", 12_500L)
        .containsEntry("update", 1000L);
    assertThat(Totals.mostAlive(profiler)).isEqualTo(500);
    assertThat(profiler.left()).isZero();
  }

  @Test
  void takesNothingDownBeforeItIsTold() {
    long now = System.nanoTime();
    product.ran(now, now + 1000);
    profiler.span("pass", now, now + 1000);
    assertThat(Totals.of(profiler)).isEmpty();
    assertThat(Totals.spans(profiler)).isEmpty();
  }

  @Tag("slow")
  @Test
  void saysWhatFoundNoRoom() {
    profiler.start();
    for (int i = 0; i < Profiler.MOST_EVENTS + 7; i++) {
      sum.ran(0, 1);
    }
    assertThat(profiler.left()).isEqualTo(7);
    assertThat(Totals.of(profiler).getFirst().runs()).isEqualTo(Profiler.MOST_EVENTS);
  }

  @Tag("slow")
  @Test
  void theTraceHasEachRunAndTheMemoryAlive() throws Exception {
    twoSteps();
    Path file = folder.resolve("trace.json");
    TraceFile.write(profiler, "a model", file);
    List<JsonNode> runs = new ArrayList<>();
    List<JsonNode> alive = new ArrayList<>();
    for (JsonNode event : new ObjectMapper().readTree(file.toFile()).get("traceEvents")) {
      if (event.get("ph").asText().equals("X") && event.get("tid").asInt() == 2) {
        runs.add(event);
      } else if (event.get("ph").asText().equals("C")) {
        alive.add(event);
      }
    }
    assertThat(runs)
        .extracting(run -> run.get("name").asText())
        .containsExactly("mat mul", "reduce sum(relu)", "mat mul", "reduce sum(relu)");
    assertThat(runs.getFirst().get("dur").asDouble()).isEqualTo(3);
    double apart = runs.get(2).get("ts").asDouble() - runs.getFirst().get("ts").asDouble();
    assertThat(apart).isEqualTo(10, within(1e-6));
    assertThat(runs.getFirst().at("/args/operands").asText()).isEqualTo("[2, 4] [4, 3]");
    assertThat(alive)
        .extracting(event -> event.at("/args/bytes").asLong())
        .containsExactly(500L, 300L, 500L, 300L);
    try (var left = Files.list(folder)) {
      assertThat(left).as("no file half-written").containsExactly(file);
    }
  }
}
