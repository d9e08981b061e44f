package dev.kastor.cli.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.cli.KastorProcess;
import dev.kastor.crds.trainingjob.TrainingJob;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Curves of jobs after a {@code kastor up} that is ended and started again. */
final class KeptCurvesIT {
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  @TempDir Path folder;

  @Test
  void theyGoOnWhereTheyWere() throws Exception {
    long begun;
    try (KastorProcess up = up();
        KastorProcess kastor = new KastorProcess(folder.resolve("home"))) {
      assertThat(run(kastor, submit("ended", 1500, "--wait"))).isZero();
      assertThat(run(kastor, submit("lives", 1_000_000))).isZero();
      List<String> shown = new ArrayList<>();
      up.await(
          "it has a curve",
          () -> {
            shown.clear();
            shown.addAll(loss(kastor, "lives"));
            return shown.size() >= 8;
          });
      begun = step(shown.getFirst());
      try (KubernetesClient client = client()) {
        up.await("its status has as much", () -> stored(client) >= step(shown.getLast()));
      }
      up.interrupt();
      up.waitFor(PATIENCE);
    }
    try (KastorProcess up = up();
        KastorProcess kastor = new KastorProcess(folder.resolve("home"))) {
      assertThat(loss(kastor, "ended")).as(up.said()).isNotEmpty();
      List<String> lives = loss(kastor, "lives");
      assertThat(lives).hasSizeGreaterThan(3);
      assertThat(step(lives.getFirst())).isEqualTo(begun);
      assertThat(run(kastor, "rm", "lives")).isZero();
    }
  }

  private KastorProcess up() throws Exception {
    KastorProcess up = new KastorProcess(folder.resolve("home"));
    up.start(folder.resolve("up"), "up", "--slots", "1", "--port", "0");
    up.await("kastor up says where it is", () -> up.said().contains("kubeconfig"));
    return up;
  }

  private String[] submit(String name, long steps, String... more) throws Exception {
    Path file = folder.resolve(name + ".yaml");
    Files.writeString(
        file,
        """
        apiVersion: kastor.dev/v1alpha1
        kind: TrainingJob
        metadata: {name: %s}
        spec:
          program: {name: glyph-mlp}
          goodput:
            batchSize: {initial: 64}
            learningRate: {base: "0.05"}
            work: {steps: %d}
        """
            .formatted(name, steps));
    return more.length == 0
        ? new String[] {"submit", file.toString()}
        : new String[] {"submit", file.toString(), more[0]};
  }

  /** Lines of the loss, as CSV; none where the operator does not answer, as on a busy machine. */
  private List<String> loss(KastorProcess kastor, String job) {
    try {
      if (run(kastor, "metrics", job, "-o", "csv") != 0) {
        return List.of();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    return kastor.said().lines().filter(line -> line.contains("loss")).toList();
  }

  private static long step(String line) {
    return Long.parseLong(line.split(",", -1)[1]);
  }

  private KubernetesClient client() throws IOException {
    String kubeconfig = Files.readString(folder.resolve("home").resolve("kubeconfig"));
    return new KubernetesClientBuilder().withConfig(Config.fromKubeconfig(kubeconfig)).build();
  }

  /** The step of the summary with which the curve of the job that lives is stored. */
  private static long stored(KubernetesClient client) {
    TrainingJob job =
        client.resources(TrainingJob.class).inNamespace("default").withName("lives").get();
    return job.getStatus() == null || job.getStatus().training() == null
        ? 0
        : job.getStatus().training().step();
  }

  private int run(KastorProcess kastor, String... arguments)
      throws IOException, InterruptedException {
    kastor.start(folder.resolve("said"), arguments);
    return kastor.waitFor(PATIENCE);
  }
}
