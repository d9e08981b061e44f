package dev.kastor.cli.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.cli.SharedUp;
import dev.kastor.cli.terminal.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Jobs that begin with the parameters of another one, under a real {@code kastor up}. */
final class WarmStartIT {
  private static final Duration PATIENCE = Duration.ofMinutes(10);
  private static final ObjectMapper JSON = new ObjectMapper();

  @RegisterExtension static final SharedUp UP = new SharedUp();

  @TempDir Path folder;

  @Test
  void aJobBeginsWithTheParametersOfAnotherAndGoesOnFromItsOwnCheckpoint() throws Exception {
    assertThat(run(submit("a", "64", 600, "--wait"))).isZero();
    double trained = loss("a");

    // One step each, so that the loss is that of the parameters with which they began.
    assertThat(run(submit("fresh", "64", 1, "--wait"))).isZero();
    assertThat(run(submit("warm", "64", 1, "--wait", "--warm-start", "a"))).isZero();
    double fresh = loss("fresh");
    double warm = loss("warm");
    assertThat(fresh).as("of twelve classes, untrained").isBetween(2.0, 3.5);
    assertThat(warm).as("trained %s", trained).isLessThan(fresh / 3);

    assertThat(run(submit("wide", "65", 1, "--wait", "--warm-start", "a")))
        .isEqualTo(ExitCode.FAILED);
    assertThat(UP.shell().said())
        .contains("the parameters of job a cannot be taken")
        .contains("(glyph-mlp there, glyph-mlp here)");
    assertThat(run(submit("step", "64", 1, "--wait", "--warm-start", "a:7")))
        .isEqualTo(ExitCode.FAILED);
    assertThat(UP.shell().said()).contains("it has no checkpoint of step 7 but of 600");
    assertThat(run(submit("nobody", "64", 1, "--warm-start", "b"))).isEqualTo(ExitCode.NOT_FOUND);
    assertThat(UP.shell().said()).contains("there is no job b in namespace default");
    assertThat(run(submit("foreign", "64", 1, "--warm-start", "team/a"))).isEqualTo(ExitCode.USAGE);
    assertThat(UP.shell().said()).contains("of its own namespace alone");

    assertThat(run(submit("long", "64", 1_000_000, "--warm-start", "a"))).isZero();
    Path own = awaitOwnCheckpoint();
    assertThat(run("rm", "a")).isZero();
    assertThat(run("checkpoints", "rm", "--removed")).isZero();
    assertThat(UP.shell().said()).contains("default/a");
    ProcessHandle agent = agents().getFirst();
    assertThat(agent.destroyForcibly()).isTrue();
    await("a second replica", () -> logs("long").contains("starts from the checkpoint of step"));
    assertThat(logs("long"))
        .contains("takes the parameters of job a at step 600")
        .containsOnlyOnce("takes the parameters of job");
    assertThat(own).exists();
    assertThat(run("describe", "long")).isZero();
    assertThat(UP.shell().said()).contains("with the parameters of job a, its newest checkpoint");
    assertThat(run("rm", "long")).isZero();
  }

  private String[] submit(String name, String hidden, long steps, String... more) throws Exception {
    Path file = folder.resolve(name + ".yaml");
    Files.writeString(
        file,
        """
        apiVersion: kastor.dev/v1alpha1
        kind: TrainingJob
        metadata: {name: %s}
        spec:
          program: {name: glyph-mlp, parameters: {hidden: "%s"}}
          checkpoint: {intervalSeconds: 1}
          faultTolerance: {backoffSeconds: 0}
          goodput:
            mode: Fixed
            batchSize: {initial: 64}
            learningRate: {base: "0.05"}
            work: {steps: %d}
        """
            .formatted(name, hidden, steps));
    List<String> arguments = new ArrayList<>(List.of("submit", file.toString()));
    arguments.addAll(List.of(more));
    return arguments.toArray(String[]::new);
  }

  private static double loss(String job) throws Exception {
    String said = UP.shell().succeed("describe", job, "-o", "json");
    JsonNode loss = JSON.readTree(said).findValue("loss");
    assertThat(loss).as(said).isNotNull();
    return loss.asDouble();
  }

  /** The folder of checkpoints of the job {@code long}, once it has one after step 0. */
  private Path awaitOwnCheckpoint() throws Exception {
    Path root = UP.home().resolve("checkpoints");
    List<Path> found = new ArrayList<>();
    await(
        "a checkpoint of its own",
        () -> {
          try {
            CheckpointFolder.all(root).stream()
                .filter(each -> each.job().equals("long"))
                .filter(each -> each.saved(Optional.empty()).orElseThrow().step() > 0)
                .forEach(each -> found.add(each.path()));
          } catch (IOException | NoSuchElementException e) {
            return false;
          }
          return !found.isEmpty();
        });
    return found.getFirst();
  }

  private static List<ProcessHandle> agents() {
    return ProcessHandle.current()
        .descendants()
        .filter(p -> p.info().commandLine().orElse("").contains("dev.kastor.agent.Agent"))
        .toList();
  }

  private String logs(String job) {
    try (Stream<Path> files = Files.walk(UP.home().resolve("logs"))) {
      StringBuilder text = new StringBuilder();
      for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
        if (file.toString().contains(job + "-")) {
          text.append(Files.readString(file));
        }
      }
      return text.toString();
    } catch (IOException e) {
      return "";
    }
  }

  private static void await(String what, BooleanSupplier condition) throws InterruptedException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as(what).isLessThan(end);
      Thread.sleep(50);
    }
  }

  private static int run(String... arguments) {
    return UP.shell().run(arguments).code();
  }
}
