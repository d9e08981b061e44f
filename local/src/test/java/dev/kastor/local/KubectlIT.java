package dev.kastor.local;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kastor.local.api.ApiServer;
import dev.kastor.testkit.Programs;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The local API server as kubectl sees it, by the kubeconfig that {@code kastor up} writes. */
final class KubectlIT {
  private static final Optional<Path> KUBECTL = Programs.find("kubectl");
  private static final Path ROOT = Path.of(System.getProperty("kastor.root"));

  @TempDir Path folder;
  private ApiServer server;

  @BeforeEach
  void start() throws Exception {
    assumeTrue(
        KUBECTL.isPresent(),
        "no kubectl on PATH or in the cache of ./kastor e2e: local mode was not tried with it");
    TlsMaterial tls = TlsMaterial.create(folder.resolve("tls"));
    server = ApiServer.start(0, (namespace, pod) -> folder.resolve(pod), tls.context());
    for (String resource : Installation.crdResources()) {
      try (InputStream crd = ApiServer.class.getClassLoader().getResourceAsStream(resource)) {
        server.define(Objects.requireNonNull(crd));
      }
    }
    Files.writeString(
        folder.resolve("kubeconfig"),
        Kubeconfig.of(
            server.uri(),
            Files.readAllBytes(tls.authority()),
            server.tokens().admin(),
            URI.create("http://127.0.0.1:1/")));
  }

  @AfterEach
  void stop() {
    if (server != null) {
      server.close();
    }
  }

  private String kubectl(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(KUBECTL.orElseThrow().toString()));
    command.addAll(List.of(arguments));
    Path out = folder.resolve("out");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(out.toFile());
    builder.environment().put("KUBECONFIG", folder.resolve("kubeconfig").toString());
    builder.environment().put("HOME", folder.toString());
    Process process = builder.start();
    assertThat(process.waitFor(10, TimeUnit.MINUTES)).as("%s ends", command).isTrue();
    String said = Files.readString(out, UTF_8);
    assertThat(process.exitValue()).as("%s: %s", command, said).isZero();
    return said;
  }

  private String example(String name) {
    return ROOT.resolve("examples").resolve(name).toString();
  }

  @Test
  void listsJobsWithTheColumnsOfTheDefinition() throws Exception {
    assertThat(kubectl("create", "-f", example("glyph-mlp.yaml")))
        .isEqualTo("trainingjob.kastor.dev/glyph-mlp created\n");
    assertThat(kubectl("get", "tj").lines().map(line -> line.split("\\s{2,}", -1)[0]))
        .containsExactly("NAME", "glyph-mlp");
    assertThat(kubectl("get", "tj"))
        .contains("PHASE", "QUEUE", "HAS", "WANTS", "GOODPUT", "ETA", "REASON", "AGE")
        .doesNotContain("NODES")
        .containsPattern("glyph-mlp .* [0-9]+s\n");
    assertThat(kubectl("get", "tj", "-o", "wide")).contains("BATCH", "GPU", "NODES", "RESTARTS");
    assertThat(kubectl("get", "tj", "-A")).contains("NAMESPACE", "default");
    assertThat(kubectl("get", "trainingjobs", "glyph-mlp", "-o", "jsonpath={.kind}"))
        .isEqualTo("TrainingJob");
    assertThat(kubectl("describe", "tj", "glyph-mlp")).contains("glyph-mlp");
    assertThat(kubectl("delete", "tj", "glyph-mlp"))
        .contains("trainingjob.kastor.dev \"glyph-mlp\" deleted");
    assertThat(kubectl("get", "tj")).contains("No resources found");
  }

  @Test
  void appliesQueuesAndProfilesWithAndWithoutTheServersHelp() throws Exception {
    kubectl("apply", "-f", example("queue.yaml"));
    assertThat(kubectl("get", "queues")).contains("COHORT", "research", "lab");
    kubectl("patch", "queue", "research", "--type=merge", "-p", "{\"spec\":{\"weight\":3}}");
    kubectl("apply", "--server-side", "--force-conflicts", "-f", example("queue.yaml"));
    assertThat(kubectl("get", "queue", "research", "-o", "jsonpath={.spec.weight}")).isEqualTo("2");
    kubectl("apply", "-f", example("profile.yaml"));
    assertThat(kubectl("get", "clustertrainingprofiles")).contains("NAME", "DEFAULT");
  }

  @Test
  void explainsFieldsAndRefusesUnknownOnes() throws Exception {
    assertThat(kubectl("explain", "trainingjob.spec.checkpoint"))
        .contains("intervalSeconds", "Seconds between checkpoints.");
    Path wrong = folder.resolve("wrong.yaml");
    Files.writeString(
        wrong,
        Files.readString(Path.of(example("glyph-mlp.yaml")), UTF_8)
            .replace("spec:", "spec:\n  replica: 3"));
    assertThatThrownBy(() -> kubectl("apply", "-f", wrong.toString()))
        .hasMessageContaining("unknown field \"spec.replica\"");
  }
}
