package dev.kastor.cli.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.cli.SharedUp;
import dev.kastor.cli.terminal.ExitCode;
import java.awt.BasicStroke;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Checkpoints of a job that trained under a real {@code kastor up}. */
final class CheckpointsIT {
  private static final String JOB =
      """
      apiVersion: kastor.dev/v1alpha1
      kind: TrainingJob
      metadata: {name: digits}
      spec:
        program: {name: glyph-mlp}
        goodput:
          mode: Fixed
          batchSize: {initial: 64}
          learningRate: {base: "0.05"}
          work: {steps: 500}
      """;

  @RegisterExtension static final SharedUp UP = new SharedUp();

  @TempDir Path folder;

  @Test
  void theyAreListedCopiedAndRemoved() throws Exception {
    Path job = Files.writeString(folder.resolve("job.yaml"), JOB);
    assertThat(run("submit", job.toString(), "--wait")).isZero();

    assertThat(run("checkpoints", "ls")).isZero();
    assertThat(UP.shell().said()).contains("default/digits").contains("Succeeded").contains("iB");
    Path copy = folder.resolve("digits.ckpt");
    assertThat(run("checkpoints", "get", "digits", "-o", copy.toString())).isZero();
    assertThat(copy).isNotEmptyFile();
    assertThat(run("checkpoints", "get", "digits", "--step", "7")).isEqualTo(ExitCode.NOT_FOUND);

    Path weights = folder.resolve("digits.safetensors");
    assertThat(run("export", "digits", "-o", weights.toString())).isZero();
    assertThat(UP.shell().said()).contains("step 500, 6 tensors");
    assertThat(weights).isNotEmptyFile();
    Path model = folder.resolve("digits.onnx");
    assertThat(run("export", "digits", "--checkpoint", copy.toString(), "-o", model.toString()))
        .isZero();
    Path ring = folder.resolve("ring.png");
    ImageIO.write(ring(), "png", ring.toFile());
    assertThat(run("predict", model.toString(), ring.toString())).isZero();
    assertThat(UP.shell().said()).contains("ring.png  ring");
    assertThat(run("export", "digits", "--step", "7")).isEqualTo(ExitCode.NOT_FOUND);
    assertThat(run("export", "letters")).isEqualTo(ExitCode.NOT_FOUND);

    assertThat(run("rm", "digits")).isZero();
    assertThat(run("checkpoints", "ls", "digits")).isZero();
    assertThat(UP.shell().said()).contains("removed");
    assertThat(run("checkpoints", "rm", "--removed")).isZero();
    assertThat(UP.shell().said()).contains("default/digits");
    assertThat(run("checkpoints", "ls")).isZero();
    assertThat(UP.shell().said()).contains("no checkpoints in");
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

  private static int run(String... arguments) {
    return UP.shell().run(arguments).code();
  }
}
