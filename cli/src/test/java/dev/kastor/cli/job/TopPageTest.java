package dev.kastor.cli.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.cli.view.JobView;
import dev.kastor.crds.trainingjob.TrainingJob;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class TopPageTest {
  private static final Instant NOW = Instant.parse("2026-01-01T01:00:00Z");

  private final List<JobView> jobs =
      Stream.concat(
              IntStream.range(0, 150).mapToObj(i -> job("a-queued-%03d".formatted(i), "Queued", 0)),
              Stream.of(job("z-slow", "Running", 5), job("z-fast", "Running", 50)))
          .toList();

  @Test
  void whoRunsComesFirstAndAllFitsTheTerminal() {
    List<String> lines = page(24, 80).lines();
    assertThat(lines).hasSize(23);
    assertThat(lines.getFirst()).startsWith("152 jobs, 2 running, 2 replicas, 1 to 21 shown");
    assertThat(lines.get(2)).startsWith("z-fast");
    assertThat(lines.get(3)).startsWith("z-slow");
    assertThat(lines.subList(1, 23)).allMatch(line -> line.length() <= 80);
  }

  @Test
  void scrollsAsFarAsThereAreJobs() {
    TopPage page = page(24, 80);
    assertThat(page.moved(-5).first()).isZero();
    assertThat(page.moved(1).first()).isEqualTo(1);
    TopPage end = page.moved(10_000);
    assertThat(end.first()).isEqualTo(152 - 21);
    assertThat(end.lines().getLast()).startsWith("a-queued-149");
  }

  @Test
  void sortsByWhatIsAsked() {
    assertThat(page(24, 80).sorted(TopPage.Order.GOODPUT).lines().get(2)).startsWith("z-fast");
    TopPage.Order order = TopPage.Order.PHASE;
    for (TopPage.Order any : TopPage.Order.values()) {
      assertThat(page(24, 80).sorted(any).lines().getFirst())
          .contains("by " + any.name().toLowerCase(Locale.ROOT));
      order = order.next();
    }
    assertThat(order).isEqualTo(TopPage.Order.PHASE);
  }

  private TopPage page(int rows, int columns) {
    return new TopPage(jobs, List.of(), TopPage.Order.PHASE, 0, rows, columns, NOW);
  }

  private static JobView job(String name, String phase, double goodput) {
    return JobView.of(
        Serialization.unmarshal(
            """
            apiVersion: kastor.dev/v1alpha1
            kind: TrainingJob
            metadata: {name: %s, namespace: default, creationTimestamp: "2026-01-01T00:00:00Z"}
            spec:
              program: {name: glyph-mlp}
              elastic: {minReplicas: 1, maxReplicas: 4}
            status:
              phase: %s
              allocation: {replicas: %d, nodes: {}, version: 1, since: "2026-01-01T00:00:00Z", reason: Started, message: ""}
              training: {step: 1, scaleInvariantMillisteps: 1, percent: 1, examples: 1, epoch: 0, globalBatch: 64, atomicBatch: 64, accumulationSteps: 0, goodput: %s, rescales: 0, grows: 0, shrinks: 0, minReplicas: 1, maxReplicas: 1, minGlobalBatch: 64, maxGlobalBatch: 64}
            """
                .formatted(name, phase, phase.equals("Running") ? 1 : 0, goodput),
            TrainingJob.class));
  }
}
