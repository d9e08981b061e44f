package dev.kastor.cli.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.local.Kubeconfig;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TargetTest {
  private static final String TWO =
      """
      apiVersion: v1
      kind: Config
      clusters:
      - {name: a, cluster: {server: "http://a.example:1"}}
      - {name: b, cluster: {server: "http://b.example:2"}}
      users:
      - {name: u, user: {token: t}}
      contexts:
      - {name: first, context: {cluster: a, user: u, namespace: team}}
      - {name: second, context: {cluster: b, user: u}}
      current-context: first
      """;

  @TempDir Path folder;

  private Path file() throws IOException {
    return Files.writeString(folder.resolve("config"), TWO);
  }

  @Test
  void aContextChoosesClusterAndNamespace() throws IOException {
    Target current = Target.find(file(), null, Map.of());
    assertThat(current.config().getMasterUrl()).startsWith("http://a.example:1");
    assertThat(current.namespace()).isEqualTo("team");
    assertThat(current.operator()).isNull();
    Target other = Target.find(file(), "second", Map.of());
    assertThat(other.config().getMasterUrl()).startsWith("http://b.example:2");
    assertThat(other.namespace()).isEqualTo("default");
    assertThatThrownBy(() -> Target.find(file(), "third", Map.of()))
        .hasMessage("there is no context third; the kubeconfig has first, second");
  }

  @Test
  void theLocalKubeconfigKnowsTheOperator() throws IOException {
    URI page = URI.create("http://127.0.0.1:8080/");
    Path file =
        Files.writeString(
            folder.resolve("local"),
            Kubeconfig.of(URI.create("http://127.0.0.1:1"), new byte[0], "t", page));
    assertThat(Target.find(file, null, Map.of()).operator()).isEqualTo(page);
  }

  @Test
  void asAPluginOfKubectlItUsesKubectlsCluster() throws IOException {
    System.setProperty("kubeconfig", file().toString());
    try {
      Target target = Target.find(null, null, Map.of(Target.AS_KUBECTL, "true"));
      assertThat(target.config().getMasterUrl()).startsWith("http://a.example:1");
      assertThat(target.namespace()).isEqualTo("team");
      assertThat(target.local()).isFalse();
      assertThat(Target.find(null, "second", Map.of()).config().getMasterUrl())
          .startsWith("http://b.example:2");
    } finally {
      System.clearProperty("kubeconfig");
    }
  }

  @Test
  void theLauncherOfThePluginCallsTheOneBesideIt() throws Exception {
    Path script = Path.of(System.getProperty("kastor.root", "..")).resolve("kubectl-kastor");
    Path copy = Files.copy(script, folder.resolve("kubectl-kastor"));
    Path stub =
        Files.writeString(
            folder.resolve("kastor"), "#!/bin/sh\necho \"$KASTOR_KUBECTL|$*\"\nexit 4\n");
    for (Path file : new Path[] {copy, stub}) {
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
    Path link = Files.createDirectory(folder.resolve("bin")).resolve("kubectl-kastor");
    Files.createSymbolicLink(link, copy);
    Process process = new ProcessBuilder(link.toString(), "ls", "-n", "a b").start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).isEqualTo(4);
    assertThat(said).isEqualTo("true|ls -n a b\n");
  }
}
