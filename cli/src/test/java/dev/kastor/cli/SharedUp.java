package dev.kastor.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.local.kubelet.PrivateFiles;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A {@code kastor up} of two slots that all test classes of a JVM share which need no other, with a
 * shell for their commands. The first of them starts it. Each finds it without jobs, checkpoints
 * and plug-ins, and leaves it so.
 */
public final class SharedUp implements BeforeAllCallback, AfterAllCallback {
  private static final Duration POLL = Duration.ofMillis(50);
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  private @Nullable Running running;

  /** The processes and their folder, which end with the last test of the JVM. */
  private record Running(Path home, KastorProcess up, KastorShell shell) implements AutoCloseable {
    static Running start() {
      try {
        Path home = Files.createTempDirectory("kastor-up");
        KastorProcess up = new KastorProcess(home);
        up.start(home.resolve("said"), "up", "--slots", "2", "--port", "0");
        up.await("kastor up says where it is", () -> up.said().contains("kubeconfig"));
        return new Running(home, up, new KastorShell(home, home));
      } catch (IOException | InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public void close() throws IOException {
      shell.close();
      up.close();
      PrivateFiles.delete(home);
    }
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    running =
        context
            .getRoot()
            .getStore(ExtensionContext.Namespace.create(SharedUp.class))
            .computeIfAbsent(Running.class, key -> Running.start(), Running.class);
  }

  @Override
  public void afterAll(ExtensionContext context) throws Exception {
    assertThat(shell().run("rm", "--all").code()).isIn(ExitCode.OK, ExitCode.NOT_FOUND);
    long end = System.nanoTime() + PATIENCE.toNanos();
    Config config = Config.fromKubeconfig(Files.readString(home().resolve("kubeconfig")));
    try (KubernetesClient client = new KubernetesClientBuilder().withConfig(config).build()) {
      while (!client.pods().inAnyNamespace().list().getItems().isEmpty()
          || !client.resources(TrainingJob.class).inAnyNamespace().list().getItems().isEmpty()) {
        assertThat(System.nanoTime()).as("all jobs and their pods go").isLessThan(end);
        Thread.sleep(POLL);
      }
    }
    shell().succeed("checkpoints", "rm", "--removed");
    PrivateFiles.delete(home().resolve("plugins"));
  }

  private Running running() {
    return Objects.requireNonNull(running);
  }

  /** Its {@code KASTOR_HOME}. */
  public Path home() {
    return running().home();
  }

  public KastorProcess up() {
    return running().up();
  }

  public KastorShell shell() {
    return running().shell();
  }
}
