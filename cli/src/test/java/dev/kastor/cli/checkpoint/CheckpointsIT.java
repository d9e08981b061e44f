package dev.kastor.cli.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.cli.KastorProcess;
import dev.kastor.cli.terminal.ExitCode;
import java.awt.BasicStroke;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Checkpoints of a job that trained under a real {@code kastor up}. */
final class CheckpointsIT {
  private static final Duration PATIENCE = Duration.ofMinutes(10);
  private static final String JOB =
      """
      apiVersion: kastor.dev/v1alpha1
      kind: TrainingJob
      metadata: {name: digits}
      spec:
        program: {name: glyph-mlp}
        goodput:
          batchSize: {initial: 64}
          learningRate: {base: "0.05"}
          work: {steps: 500}
      """;

  @TempDir Path folder;

  @Test
  void theyAreListedCopiedAndRemoved() throws Exception {
    try (KastorProcess up = new KastorProcess(folder.resolve("home"));
        KastorProcess kastor = new KastorProcess(folder.resolve("home"))) {
      up.start(folder.resolve("up"), "up", "--slots", "1", "--port", "0");
      up.await("kastor up says where it is", () -> up.said().contains("kubeconfig"));
      Path job = Files.writeString(folder.resolve("job.yaml"), JOB);
      assertThat(run(kastor, "submit", job.toString(), "--wait")).isZero();

      assertThat(run(kastor, "checkpoints", "ls")).isZero();
      assertThat(kastor.said()).contains("default/digits").contains("Succeeded").contains("iB");
      Path copy = folder.resolve("digits.ckpt");
      assertThat(run(kastor, "checkpoints", "get", "digits", "-o", copy.toString())).isZero();
      assertThat(copy).isNotEmptyFile();
      assertThat(run(kastor, "checkpoints", "get", "digits", "--step", "7"))
          .isEqualTo(ExitCode.NOT_FOUND);

      Path weights = folder.resolve("digits.safetensors");
      assertThat(run(kastor, "export", "digits", "-o", weights.toString())).isZero();
      assertThat(kastor.said()).contains("step 500, 6 tensors");
      assertThat(weights).isNotEmptyFile();
      Path model = folder.resolve("digits.onnx");
      assertThat(
              run(
                  kastor,
                  "export",
                  "digits",
                  "--checkpoint",
                  copy.toString(),
                  "-o",
                  model.toString()))
          .isZero();
      Path ring = folder.resolve("ring.png");
      ImageIO.write(ring(), "png", ring.toFile());
      assertThat(run(kastor, "predict", model.toString(), ring.toString())).isZero();
      assertThat(kastor.said()).contains("ring.png  ring");
      assertThat(run(kastor, "export", "digits", "--step", "7")).isEqualTo(ExitCode.NOT_FOUND);
      assertThat(run(kastor, "export", "letters")).isEqualTo(ExitCode.NOT_FOUND);

      assertThat(run(kastor, "rm", "digits")).isZero();
      assertThat(run(kastor, "checkpoints", "ls", "digits")).isZero();
      assertThat(kastor.said()).contains("removed");
      assertThat(run(kastor, "checkpoints", "rm", "--removed")).isZero();
      assertThat(kastor.said()).contains("default/digits");
      assertThat(run(kastor, "checkpoints", "ls")).isZero();
      assertThat(kastor.said()).contains("no checkpoints in");
    }
  }

  /** A white ring on black, as the drawn ones are. */
  private static BufferedImage ring() {
    BufferedImage image = new BufferedImage(16, 16, BufferedImage.TYPE_BYTE_GRAY);
    Graphics2D pen = image.createGraphics();
    pen.setStroke(new BasicStroke(1.5f));
    pen.drawOval(3, 3, 10, 10);
    pen.dispose();
    return image;
  }

  private int run(KastorProcess kastor, String... arguments) throws Exception {
    kastor.start(folder.resolve("said"), arguments);
    return kastor.waitFor(PATIENCE);
  }
}
