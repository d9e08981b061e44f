package dev.kastor.cli.job;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.cli.KastorProcess;
import dev.kastor.engine.train.GradientStagePlugin;
import dev.kastor.testkit.SourceJar;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Features of training, of Kastor's own and of the example's jar, under a real {@code kastor up}.
 */
final class TrainingFeaturesIT {
  private static final Path EXAMPLE =
      Path.of(System.getProperty("kastor.root", "..")).resolve("examples/gradient-stage/src/main");
  private static final Duration PATIENCE = Duration.ofMinutes(2);
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
      SourceJar.make(
          plugins.resolve("clip.jar"),
          List.of(EXAMPLE.resolve("java/com/example/ClipByNorm.java")),
          GradientStagePlugin.class.getName(),
          Files.readAllLines(
              EXAMPLE.resolve(
                  "resources/META-INF/services/" + GradientStagePlugin.class.getName())));
      up.start(folder.resolve("up"), "up", "--slots", "1", "--port", "0");
      up.await("kastor up says where it is", () -> up.said().contains("kubeconfig"));

      // The loss is that of a batch near the end: no two jobs report the same one.
      double still = loss(kastor, "still", "{gradients: [clip: {norm: 1.0e-9}]}");
      assertThat(still).as("of twelve classes, untrained").isBetween(2.0, 3.5);
      assertThat(loss(kastor, "plain", "{passes: {tableProducts: off}}")).isLessThan(still / 2);
      assertThat(loss(kastor, "clipped", "{gradients: [clip: {norm: 1.0}]}")).isLessThan(still / 2);
    }
  }

  /** The loss of a batch near the end of a job. */
  private double loss(KastorProcess kastor, String name, String training) throws Exception {
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
          goodput:
            mode: Fixed
            batchSize: {initial: 64}
            learningRate: {base: "0.05"}
            work: {steps: 300}
        """
            .formatted(name, training));
    assertThat(run(kastor, "submit", file.toString(), "--wait")).as(kastor.said()).isZero();
    assertThat(run(kastor, "describe", name, "-o", "json")).isZero();
    // Java's own warnings stand before it.
    String said = kastor.said();
    JsonNode loss = JSON.readTree(said.substring(said.indexOf("\n{") + 1)).findValue("loss");
    assertThat(loss).as(said).isNotNull();
    return loss.asDouble();
  }

  private int run(KastorProcess kastor, String... arguments) throws Exception {
    kastor.start(folder.resolve("said"), arguments);
    return kastor.waitFor(PATIENCE);
  }
}
