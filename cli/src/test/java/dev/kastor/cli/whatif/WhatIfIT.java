package dev.kastor.cli.whatif;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.cli.KastorShell;
import dev.kastor.cli.SharedUp;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A real {@code kastor up} with eight live jobs that is asked. */
final class WhatIfIT {
  private static final int JOBS = 8;

  @RegisterExtension static final SharedUp UP = new SharedUp();

  @TempDir Path folder;

  private static String job(String name, int steps, int most) {
    return """
    ---
    apiVersion: kastor.dev/v1alpha1
    kind: TrainingJob
    metadata: {name: %s}
    spec:
      program: {name: glyph-mlp}
      elastic: {minReplicas: 1, maxReplicas: %d}
      goodput:
        batchSize: {initial: 64, max: 512, perDevice: {min: 16, max: 128}}
        learningRate: {base: "0.05"}
        work: {steps: %d}
    """
        .formatted(name, most, steps);
  }

  private static JsonNode asked(String... arguments) throws IOException {
    String[] all = new String[arguments.length + 3];
    all[0] = "whatif";
    System.arraycopy(arguments, 0, all, 1, arguments.length);
    all[all.length - 2] = "-o";
    all[all.length - 1] = "json";
    return new ObjectMapper().readTree(UP.shell().succeed(all));
  }

  @Test
  void eightLiveJobsAreReplayedAndNoneIsChanged() throws Exception {
    StringBuilder all = new StringBuilder();
    for (int n = 0; n < JOBS; n++) {
      all.append(job("live-" + n, 200_000 + 50_000 * n, 1 + n % 2));
    }
    Path jobs = Files.writeString(folder.resolve("jobs.yaml"), all);
    UP.shell().succeed("submit", jobs.toString());
    Path more = Files.writeString(folder.resolve("more.yaml"), job("more", 1000, 2));
    UP.up().await("a job that trains", () -> UP.shell().succeed("ls").contains("Running"));
    JsonNode answer = asked("--add", more.toString());
    assertThat(answer.path("jobs")).as("%s", answer).hasSize(JOBS);
    JsonNode added = answer.path("added").path(0);
    assertThat(added.path("name").asText()).isEqualTo("more");
    Instant at = Instant.parse(answer.path("at").asText());
    assertThat(Instant.parse(added.path("start").asText())).isAfterOrEqualTo(at);
    assertThat(Instant.parse(added.path("end").asText()))
        .isAfter(Instant.parse(added.path("start").asText()));
    assertThat(answer.path("jobs")).allMatch(job -> job.path("end").isTextual());

    JsonNode nodes = asked("--nodes", "+1", "--policy", "fifo");
    assertThat(nodes.path("changes")).hasSize(2);
    assertThat(nodes.path("meanSecondsThen").asDouble()).isPositive();
    assertThat(nodes.path("jobs")).hasSize(JOBS);
    assertThat(UP.shell().succeed("ls")).doesNotContain("more");

    KastorShell.Result wrong = UP.shell().run("whatif", "--nodes", "+1xnone");
    assertThat(wrong.code()).isEqualTo(2);
    assertThat(wrong.text()).contains("none");
  }
}
