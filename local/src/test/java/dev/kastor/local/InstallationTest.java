package dev.kastor.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class InstallationTest {
  @TempDir Path root;

  private Installation installation;

  @BeforeEach
  void unpack() throws IOException {
    installation = new Installation(root);
    Files.createDirectories(root.resolve("lib/operator"));
  }

  private Path file(String path, String... lines) throws IOException {
    return Files.write(root.resolve(path), List.of(lines));
  }

  @Test
  void aReleaseSaysItsCommitAndWhereItsPartsAre() throws Exception {
    file("release", "VERSION=1.2.3", "COMMIT=0123abc");
    Path operator = file("lib/operator/quarkus-run.jar");
    Path own = file("lib/agent.jar");
    Path shared = file("lib/operator/json.jar");
    file("lib/agent.classpath", "lib/agent.jar", "lib/operator/json.jar");
    assertThat(installation.commit()).contains("0123abc");
    assertThat(installation.operatorJar()).isEqualTo(operator);
    assertThat(installation.agentClassPath()).isEqualTo(own + ":" + shared);
    assertThat(installation.nativeOptions())
        .contains("-Djava.library.path=" + root.resolve("lib/native"));
  }

  @Test
  void aReleaseThatLacksAJarSaysWhich() throws Exception {
    file("release", "VERSION=1.2.3", "COMMIT=0123abc");
    file("lib/agent.classpath", "lib/agent.jar");
    assertThatThrownBy(installation::agentClassPath)
        .isInstanceOf(LocalException.class)
        .hasMessageContaining(root.resolve("lib/agent.jar") + " is missing. Unpack it again.");
  }

  @Test
  void aCheckoutHasNoCommitOfItsOwnAndNativeLibrariesInJars() throws Exception {
    assertThat(installation.commit()).isEmpty();
    assertThat(installation.nativeOptions()).isEmpty();
    assertThatThrownBy(installation::operatorJar)
        .isInstanceOf(LocalException.class)
        .hasMessageContaining("Run ./kastor build.");
  }
}
