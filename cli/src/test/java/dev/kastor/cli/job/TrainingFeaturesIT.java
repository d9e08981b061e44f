package dev.kastor.cli.job;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.cli.SharedUp;
import dev.kastor.engine.train.GradientCodecPlugin;
import dev.kastor.engine.train.GradientStagePlugin;
import dev.kastor.testkit.SourceJar;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Features of training, of Kastor's own and of the examples' jars, under a real {@code kastor up}.
 */
final class TrainingFeaturesIT {
  private static final ObjectMapper JSON = new ObjectMapper();

  @RegisterExtension static final SharedUp UP = new SharedUp();

  @TempDir Path folder;

  @BeforeAll
  static void addTheExamples() throws Exception {
    Path plugins = Files.createDirectories(UP.home().resolve("plugins"));
    Files.setPosixFilePermissions(plugins, PosixFilePermissions.fromString("rwx------"));
    SourceJar.ofExample(plugins, "gradient-stage", GradientStagePlugin.class);
    SourceJar.ofExample(plugins, "codec", GradientCodecPlugin.class);
  }

  @Test
  void aJobTrainsWithTheFeaturesOfItsSpec() throws Exception {
    // The loss is that of a batch near the end: no two jobs report the same one.
    double still = loss("still", 1, "{gradients: [clip: {norm: 1.0e-9}]}");
    assertThat(still).as("of twelve classes, untrained").isBetween(2.0, 3.5);
    String plain =
        "{passes: {tableProducts: off}, gradients: [clip: {norm: 1.0}], collective: hierarchical}";
    assertThat(loss("plain", 2, plain)).isLessThan(still / 2);
    String selected =
        "{select: {random: {keep: 0.5}}, tune: {phases: {warmUp: 30, decay: linear}}}";
    assertThat(loss("selected", 2, selected)).isLessThan(still / 2);
    double tuned =
        loss(
            "slowed",
            1,
            "{tune: {plateau: {patience: 1, factor: 1.0e-9, least: 1.0e-9, threshold: 0.5}}}");
    assertThat(tuned).as("of a rate that was lowered at once").isBetween(1.0, 3.5);
    assertThat(loss("rounds", 2, "{sync: {local: {steps: 8}}}")).isLessThan(still / 2);
    double bound = loss("bound", 1, "{updates: [max-norm: {norm: 0.0001}]}");
    assertThat(bound).as("of parameters near zero").isBetween(2.0, 3.5);
    assertThat(loss("coded", 2, "{codec: {topk: {share: 0.05}}}")).isLessThan(still / 2);
  }

  @Tag("nightly")
  @Test
  void aJobTrainsWithEachFeatureAlone() throws Exception {
    // Twelve classes.
    double untrained = Math.log(12);
    assertThat(loss("alone", 1, "{passes: {tableProducts: off}}")).isLessThan(untrained / 2);
    assertThat(loss("clipped", 1, "{gradients: [clip: {norm: 1.0}]}")).isLessThan(untrained / 2);
    assertThat(loss("chosen", 2, "{select: {random: {keep: 0.5}}}")).isLessThan(untrained / 2);
    // The loss is that of the examples that it chose, the hardest ones.
    assertThat(loss("judged", 1, "{select: {backprop: {beta: 1, wholeEpochs: 0}}}"))
        .isLessThan(untrained);
    assertThat(loss("tuned", 2, "{tune: {phases: {warmUp: 30, decay: linear}}}"))
        .isLessThan(untrained / 2);
    assertThat(loss("nodes", 2, "{collective: hierarchical}")).isLessThan(untrained / 2);
  }

  /** The loss of a batch near the end of a job. */
  private double loss(String name, int replicas, String training) throws Exception {
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
    UP.shell().succeed("submit", file.toString(), "--wait");
    String said = UP.shell().succeed("describe", name, "-o", "json");
    JsonNode job = JSON.readTree(said);
    JsonNode loss = job.findValue("loss");
    assertThat(loss).as(said).isNotNull();
    assertThat(job.findValue("lostOrRepeatedExamples")).as(said).hasToString("0");
    return loss.asDouble();
  }
}
