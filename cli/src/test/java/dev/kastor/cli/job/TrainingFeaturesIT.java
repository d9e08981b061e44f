package dev.kastor.cli.job;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.cli.KastorProcess;
import dev.kastor.engine.train.GradientCodecPlugin;
import dev.kastor.engine.train.GradientStagePlugin;
import dev.kastor.testkit.SourceJar;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Features of training, of Kastor's own and of the examples' jars, under a real {@code kastor up}.
 */
final class TrainingFeaturesIT {
  private static final Duration PATIENCE = Duration.ofMinutes(10);
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir Path folder;

  @Test
  void aJobTrainsWithTheFeaturesOfItsSpec() throws Exception {
    Path home = folder.resolve("home");
    try (KastorProcess up = new KastorProcess(home);
        KastorProcess kastor = new KastorProcess(home)) {
      Path plugins = Files.createDirectories(home.resolve("plugins"));
      Files.setPosixFilePermissions(home, PosixFilePermissions.fromString("rwx------"));
      Files.setPosixFilePermissions(plugins, PosixFilePermissions.fromString("rwx------"));
      SourceJar.ofExample(plugins, "gradient-stage", GradientStagePlugin.class);
      SourceJar.ofExample(plugins, "codec", GradientCodecPlugin.class);
      up.start(folder.resolve("up"), "up", "--slots", "2", "--port", "0");
      up.await("kastor up says where it is", () -> up.said().contains("kubeconfig"));

      // The loss is that of a batch near the end: no two jobs report the same one.
      double still = loss(kastor, "still", 1, "{gradients: [clip: {norm: 1.0e-9}]}");
      assertThat(still).as("of twelve classes, untrained").isBetween(2.0, 3.5);
      assertThat(loss(kastor, "plain", 1, "{passes: {tableProducts: off}}")).isLessThan(still / 2);
      assertThat(loss(kastor, "clipped", 1, "{gradients: [clip: {norm: 1.0}]}"))
          .isLessThan(still / 2);
      assertThat(loss(kastor, "selected", 2, "{select: {random: {keep: 0.5}}}"))
          .isLessThan(still / 2);
      // The loss is that of the examples that it chose, the hardest ones.
      assertThat(loss(kastor, "judged", 1, "{select: {backprop: {beta: 1, wholeEpochs: 0}}}"))
          .isLessThan(still);
      assertThat(loss(kastor, "tuned", 2, "{tune: {phases: {warmUp: 30, decay: linear}}}"))
          .isLessThan(still / 2);
      double tuned =
          loss(
              kastor,
              "slowed",
              1,
              "{tune: {plateau: {patience: 1, factor: 1.0e-9, least: 1.0e-9, threshold: 0.5}}}");
      assertThat(tuned).as("of a rate that was lowered at once").isBetween(1.0, 3.5);
      assertThat(loss(kastor, "rounds", 2, "{sync: {local: {steps: 8}}}")).isLessThan(still / 2);
      assertThat(loss(kastor, "nodes", 2, "{collective: hierarchical}")).isLessThan(still / 2);
      double bound = loss(kastor, "bound", 1, "{updates: [max-norm: {norm: 0.0001}]}");
      assertThat(bound).as("of parameters near zero").isBetween(2.0, 3.5);
      assertThat(loss(kastor, "coded", 2, "{codec: {topk: {share: 0.05}}}")).isLessThan(still / 2);
    }
  }

  /** The loss of a batch near the end of a job. */
  private double loss(KastorProcess kastor, String name, int replicas, String training)
      throws Exception {
    Path file = folder.resolve(name + ".yaml");
    Files.writeString(
        file,
        """
        apiVersion: kastor.dev/v1alpha1
        kind: TrainingJob
        metadata: {name: %s}
        spec:
          program: {name: glyph-mlp, parameters: {hidden: "64"}}
          training: %s
          elastic: {minReplicas: %d, maxReplicas: %d}
          goodput:
            mode: Fixed
            batchSize: {initial: 64}
            learningRate: {base: "0.05"}
            work: {steps: 300}
        """
            .formatted(name, training, replicas, replicas));
    assertThat(run(kastor, "submit", file.toString(), "--wait")).as(kastor.said()).isZero();
    assertThat(run(kastor, "describe", name, "-o", "json")).isZero();
    // Java's own warnings stand before it.
    String said = kastor.said();
    JsonNode job = JSON.readTree(said.substring(said.indexOf("\n{") + 1));
    JsonNode loss = job.findValue("loss");
    assertThat(loss).as(said).isNotNull();
    assertThat(job.findValue("lostOrRepeatedExamples")).as(said).hasToString("0");
    return loss.asDouble();
  }

  private int run(KastorProcess kastor, String... arguments) throws Exception {
    kastor.start(folder.resolve("said"), arguments);
    return kastor.waitFor(PATIENCE);
  }
}
