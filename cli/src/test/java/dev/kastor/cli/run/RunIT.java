package dev.kastor.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.cli.KastorProcess;
import dev.kastor.cli.KastorShell;
import dev.kastor.cli.SharedUp;
import dev.kastor.cli.terminal.ExitCode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Commands on a real {@code kastor up}. */
final class RunIT {
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  @RegisterExtension static final SharedUp UP = new SharedUp();

  @TempDir Path folder;

  @Test
  void showsWhatACommandSaysAndEndsAsItDoes() {
    KastorShell.Result good =
        UP.shell()
            .run(
                "run",
                "--replicas",
                "2",
                "-e",
                "GREETING=hello",
                "--",
                "sh",
                "-c",
                "echo \"$GREETING from rank $RANK of $WORLD_SIZE in $PWD\"");
    assertThat(good.code()).as(good.text()).isZero();
    assertThat(good.text())
        .contains("hello from rank 0 of 2 in " + UP.home())
        .contains("Succeeded");
  }

  @Test
  void showsOfAnotherReplicaWhatItSaysOnceTheFirstHasEnded() throws Exception {
    // Rank 0 ends once rank 1 has said its lines, and rank 1 once it is the one that is followed.
    Path followed = folder.resolve("followed");
    String script =
        """
        seq -f "$RANK says %%g" 100
        touch %1$s/said-$RANK
        [ $RANK = 0 ] && awaited=said-1 || awaited=followed
        until [ -e %1$s/$awaited ]; do sleep 0.1; done
        echo $RANK ends
        """
            .formatted(folder);
    try (KastorProcess run = new KastorProcess(UP.home())) {
      run.start(
          folder.resolve("two"),
          "run",
          "--name",
          "two",
          "--replicas",
          "2",
          "--",
          "sh",
          "-c",
          script);
      run.await("the second replica is followed", () -> run.said().contains("1 says 100\n"));
      Files.createFile(followed);
      assertThat(run.waitFor(PATIENCE)).as(run.said()).isZero();
      assertThat(run.said())
          .contains("0 says 1\n", "0 ends\n", "output of two-1, from its last 20 lines on:")
          .contains("1 ends\n")
          .doesNotContain("1 says 80\n");
    }
  }

  @Test
  void aCommandThatFailsIsAFailure() throws Exception {
    Path manifest = folder.resolve("job.yaml");
    String shown =
        UP.shell().succeed("run", "--name", "bad", "--dry-run", "--", "sh", "-c", "exit 3");
    // What is shown can be changed and submitted.
    Files.writeString(manifest, shown + "  faultTolerance: {maxRestarts: 0}\n");
    KastorShell.Result bad = UP.shell().run("submit", "-f", manifest.toString(), "--wait");
    assertThat(bad.code()).as(bad.text()).isOne();
    assertThat(bad.text()).contains("bad: Failed").contains("exit code 3");
  }

  @Test
  void aScriptThatIsNotThereIsRefusedBeforeItIsSubmitted() throws Exception {
    Path python = Files.createFile(folder.resolve("python3.12"));
    assertThat(python.toFile().setExecutable(true)).isTrue();
    for (String[] command :
        new String[][] {{python.toString(), "trian.py", "--lr", "1"}, {"./no-such-program"}}) {
      List<String> line = new ArrayList<>(List.of("run", "--name", "typo", "--"));
      line.addAll(List.of(command));
      KastorShell.Result run = UP.shell().run(line.toArray(String[]::new));
      assertThat(run.code()).as(run.text()).isEqualTo(ExitCode.USAGE);
      assertThat(run.text()).containsAnyOf("there is no file trian.py in ", "./no-such-program");
    }
    assertThat(UP.shell().succeed("ls", "-o", "name")).doesNotContain("typo");
  }

  @Test
  void saysWhyAScriptWithoutThePackageIsTriedAgain() throws Exception {
    try (KastorProcess run = new KastorProcess(UP.home())) {
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
    try (KastorProcess left = new KastorProcess(UP.home())) {
      left.start(folder.resolve("left"), "run", "--name", "long", "--", "sleep", "600");
      left.await("it runs", () -> left.said().contains("long: Running"));
      left.interrupt();
      left.waitFor(PATIENCE);
      assertThat(left.said())
          .contains("long goes on", "kastor stop long")
          .doesNotContain("Exception");
      assertThat(UP.shell().succeed("ls", "-o", "name")).contains("long");
      UP.shell().succeed("rm", "long");
    }
  }
}
