package dev.kastor.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.cli.KastorProcess;
import dev.kastor.cli.terminal.ExitCode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands on a real {@code kastor up}. */
final class RunIT {
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  @TempDir Path folder;
  private KastorProcess up;

  @BeforeEach
  void start() throws Exception {
    up = new KastorProcess(folder.resolve("home"));
    up.start(folder.resolve("up"), "up", "--slots", "2", "--port", "0");
    up.await("kastor up says where it is", () -> up.said().contains("kubeconfig"));
  }

  @AfterEach
  void end() {
    up.close();
  }

  @Test
  void showsWhatACommandSaysAndEndsAsItDoes() throws Exception {
    try (KastorProcess good = new KastorProcess(folder.resolve("home"))) {
      good.start(
          folder.resolve("good"),
          "run",
          "--replicas",
          "2",
          "-e",
          "GREETING=hello",
          "--",
          "sh",
          "-c",
          "echo \"$GREETING from rank $RANK of $WORLD_SIZE in $PWD\"");
      assertThat(good.waitFor(PATIENCE)).as(good.said()).isZero();
      assertThat(good.said())
          .contains("hello from rank 0 of 2 in " + Path.of("").toAbsolutePath())
          .contains("Succeeded");
    }
  }

  @Test
  void aCommandThatFailsIsAFailure() throws Exception {
    try (KastorProcess bad = new KastorProcess(folder.resolve("home"))) {
      Path manifest = folder.resolve("job.yaml");
      bad.start(manifest, "run", "--name", "bad", "--dry-run", "--", "sh", "-c", "exit 3");
      assertThat(bad.waitFor(PATIENCE)).isZero();
      // What is shown can be changed and submitted.
      Files.writeString(manifest, bad.said() + "  faultTolerance: {maxRestarts: 0}\n");
      bad.start(folder.resolve("bad"), "submit", "-f", manifest.toString(), "--wait");
      assertThat(bad.waitFor(PATIENCE)).isOne();
      assertThat(bad.said()).contains("bad: Failed").contains("exit code 3");
    }
  }

  @Test
  void aScriptThatIsNotThereIsRefusedBeforeItIsSubmitted() throws Exception {
    Path home = folder.resolve("home");
    try (KastorProcess run = new KastorProcess(home)) {
      Path python = Files.createFile(folder.resolve("python3.12"));
      assertThat(python.toFile().setExecutable(true)).isTrue();
      for (String[] command :
          new String[][] {{python.toString(), "trian.py", "--lr", "1"}, {"./no-such-program"}}) {
        List<String> line = new ArrayList<>(List.of("run", "--name", "typo", "--"));
        line.addAll(List.of(command));
        run.start(folder.resolve("typo"), line.toArray(String[]::new));
        assertThat(run.waitFor(PATIENCE)).isEqualTo(ExitCode.USAGE);
        assertThat(run.said()).containsAnyOf("there is no file trian.py in ", "./no-such-program");
      }
      run.start(folder.resolve("ls"), "ls", "-o", "name");
      assertThat(run.waitFor(PATIENCE)).isZero();
      assertThat(run.said()).doesNotContain("typo");
    }
  }

  @Test
  void saysWhyAScriptWithoutThePackageIsTriedAgain() throws Exception {
    try (KastorProcess run = new KastorProcess(folder.resolve("home"))) {
      run.start(
          folder.resolve("run"), "run", "--name", "plain", "--batch", "8", "--", "sh", "-c", ":");
      run.await("it tells of two failures", () -> run.said().contains("plain-1 failed"));
      assertThat(run.said())
          .containsOnlyOnce("plain-0 failed (Unexplained): replica plain-0 ended with exit code 0")
          .contains("job.finish()", "leave out goodput (kastor run: --batch)")
          .containsOnlyOnce("End the job with: kastor stop plain");
    }
  }

  @Test
  void whoLeavesLeavesTheJob() throws Exception {
    try (KastorProcess left = new KastorProcess(folder.resolve("home"));
        KastorProcess other = new KastorProcess(folder.resolve("home"))) {
      left.start(folder.resolve("left"), "run", "--name", "long", "--", "sleep", "600");
      left.await("it runs", () -> left.said().contains("long: Running"));
      left.interrupt();
      left.waitFor(PATIENCE);
      assertThat(left.said())
          .contains("long goes on", "kastor stop long")
          .doesNotContain("Exception");
      other.start(folder.resolve("other"), "ls", "-o", "name");
      assertThat(other.waitFor(PATIENCE)).isZero();
      assertThat(other.said()).contains("long");
      other.start(folder.resolve("rm"), "rm", "long");
      assertThat(other.waitFor(PATIENCE)).isZero();
    }
  }
}
