package dev.kastor.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kastor.cli.FakeOperator;
import dev.kastor.cli.Terminal;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.local.api.Json;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.compressors.gzip.GzipCompressorInputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("never-retried")
final class SupportBundleTest {
  private static final String PLAIN = "correct horse battery";
  private static final List<String> SECRETS =
      List.of(
          "in-a-secret-object",
          "value-of-a-variable",
          "under-a-telling-name",
          "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJrYXN0b3IifQ.c2lnbmF0dXJl",
          "behind-a-flag",
          "in-an-equation",
          "hunter2",
          "MIIEvQIBADANBgkq",
          "AKIAIOSFODNN7EXAMPLE",
          "hf_abcdefghijklmnop",
          "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY12",
          "Zm9vOmJhcg-basic",
          "in-an-applied-manifest");

  @TempDir Path folder;

  private static Map<String, String> open(Path file) throws IOException {
    Map<String, String> entries = new LinkedHashMap<>();
    try (InputStream in = Files.newInputStream(file);
        TarArchiveInputStream tar = new TarArchiveInputStream(new GzipCompressorInputStream(in))) {
      for (TarArchiveEntry e = tar.getNextEntry(); e != null; e = tar.getNextEntry()) {
        entries.put(e.getName(), new String(tar.readAllBytes(), StandardCharsets.UTF_8));
      }
    }
    return entries;
  }

  private static void create(KubernetesClient client, String yaml) {
    client.load(new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8))).create();
  }

  private void fill(KubernetesClient client) throws IOException {
    create(
        client,
        """
        apiVersion: v1
        kind: Secret
        metadata: {name: s, namespace: default, labels: {app.kubernetes.io/managed-by: kastor}}
        stringData: {key: in-a-secret-object}
        """);
    create(
        client,
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: op-1
          namespace: default
          labels: {app.kubernetes.io/name: kastor, app.kubernetes.io/managed-by: kastor}
          annotations:
            kubectl.kubernetes.io/last-applied-configuration: '{"x": "in-an-applied-manifest"}'
            note: "correct horse battery"
        spec:
          containers:
          - name: operator
            image: kastor/operator:1
            args: ["--db-password", "behind-a-flag", "--api-token=in-an-equation", "-v"]
            env:
            - {name: HARMLESS, value: value-of-a-variable}
            - {name: FROM, valueFrom: {secretKeyRef: {name: s, key: key}}}
        """);
    create(
        client,
        """
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: kastor-x, namespace: default, labels: {app.kubernetes.io/managed-by: kastor}}
        data:
          password: under-a-telling-name
          url: "https://user:hunter2@example.org/data"
          pem: |
            -----BEGIN RSA PRIVATE KEY-----
            MIIEvQIBADANBgkq
            -----END RSA PRIVATE KEY-----
          note: correct horse battery
        """);
    create(
        client,
        """
        apiVersion: v1
        kind: Event
        metadata: {name: e, namespace: default}
        involvedObject: {kind: TrainingJob, name: digits}
        reason: Odd
        message: "used Bearer eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJrYXN0b3IifQ.c2lnbmF0dXJl, Basic Zm9vOmJhcg-basic"
        """);
    Files.writeString(
        folder.resolve("op-1.log"),
        """
        started with 2 jobs
        key AKIAIOSFODNN7EXAMPLE and wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY12
        """);
  }

  @Tag("slow")
  @Test
  void holdsWhatHelpsAndNoSecret() throws IOException {
    try (Terminal terminal = new Terminal(folder);
        FakeOperator operator =
            new FakeOperator()
                .answer(
                    "/metrics",
                    "kastor_jobs{phase=\"Running\",token=\"hf_abcdefghijklmnop\"} 1.0\n")
                .answer("/q/health/ready", "{}")
                .answer("/", "")
                .answer("/api/v1/overview", "{\"cluster\": {\"policy\": \"kastor\"}}");
        KubernetesClient client =
            new KubernetesClientBuilder()
                .withConfig(Config.fromKubeconfig(Files.readString(folder.resolve("kubeconfig"))))
                .build()) {
      Path job = Files.writeString(folder.resolve("job.yaml"), Terminal.JOB);
      terminal.run("submit", "-f", job.toString());
      fill(client);
      Path file = folder.resolve("bundle.tar.gz");
      Terminal.Result result =
          terminal.run("support-bundle", "--operator", operator.url(), "-o", file.toString());
      assertThat(result.code()).as(result.err()).isZero();
      assertThat(result.out()).contains("wrote " + file);
      Map<String, String> entries = open(file);
      assertThat(entries)
          .containsKeys(
              "versions.txt",
              "missing.txt",
              "events.json",
              "doctor.json",
              "jobs/default/digits.yaml",
              "pods/default/op-1.yaml",
              "configmaps/default/kastor-x.yaml",
              "operator/op-1.log",
              "operator/metrics.txt",
              "operator/overview.json",
              "crds/trainingjobs.kastor.dev.yaml");
      assertThat(entries.get("missing.txt")).isEqualTo("nothing\n");
      String all = String.join("\n", entries.values());
      for (String secret : SECRETS) {
        assertThat(all).doesNotContain(secret);
        assertThat(all)
            .doesNotContain(
                Base64.getEncoder().encodeToString(secret.getBytes(StandardCharsets.UTF_8)));
      }
      assertThat(all)
          .doesNotContain(terminal.server.tokens().admin())
          .doesNotContain("kind: \"Secret\"");
      assertThat(entries.get("configmaps/default/kastor-x.yaml")).contains(PLAIN);
      assertThat(entries.get("pods/default/op-1.yaml")).contains("HARMLESS").contains(PLAIN);
      assertThat(entries.get("jobs/default/digits.yaml")).contains("maxReplicas: 4");
      assertThat(entries.get("operator/op-1.log")).contains("started with 2 jobs");
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
          .isEqualTo("rw-------");
    }
  }

  @Tag("slow")
  @Test
  void writesNothingWhereItCannotWriteAll() throws IOException {
    try (Terminal terminal = new Terminal(folder)) {
      Terminal.Result nowhere =
          terminal.run("support-bundle", "-o", folder.resolve("none/b.tar.gz").toString());
      assertThat(nowhere.code()).isEqualTo(ExitCode.USAGE);
      terminal.server.close();
      assertThat(terminal.run("support-bundle", "-o", folder.resolve("b.tar.gz").toString()).code())
          .isEqualTo(ExitCode.UNREACHABLE);
      try (Stream<Path> files = Files.list(folder)) {
        assertThat(files.map(f -> f.getFileName().toString())).noneMatch(f -> f.contains("b.tar"));
      }
    }
  }

  @Tag("slow")
  @Test
  void saysWhatItHadToDoWithout() throws IOException {
    try (Terminal terminal = new Terminal(folder)) {
      Path file = folder.resolve("b.tar.gz");
      Terminal.Result result = terminal.run("support-bundle", "-o", file.toString());
      assertThat(result.code()).isZero();
      assertThat(result.out()).contains("without operator's page");
      assertThat(open(file).get("missing.txt")).contains("the operator's log");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "GPUs cost 0.42 per slot at 2026-01-01T00:00:00Z | GPUs cost 0.42 per slot at"
            + " 2026-01-01T00:00:00Z",
        "pod digits-0 on node gpu-a100-17 | pod digits-0 on node gpu-a100-17",
        "uid 0b5a8a1e-2b7c-4f0e-9a59-3c1c9a1f7d22 | uid 0b5a8a1e-2b7c-4f0e-9a59-3c1c9a1f7d22",
        "image x@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 | image"
            + " x@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "at dev.kastor.operator.membership.MembershipService | at"
            + " dev.kastor.operator.membership.MembershipService",
        "AWS_SECRET_ACCESS_KEY=abc next | AWS_SECRET_ACCESS_KEY=(removed) next",
        "\"apiKey\": \"a b\", \"x\": 1 | \"apiKey\": (removed), \"x\": 1",
        "postgres://u:p@db/x | postgres://(removed)@db/x",
        "Authorization: Bearer abcdef123 | Authorization: (removed) (removed)"
      })
  void leavesOtherTextAlone(String text, String clean) {
    assertThat(new Redaction(List.of()).text(text)).isEqualTo(clean);
  }

  @Test
  void knowsNamesInDocuments() throws IOException {
    JsonNode document =
        Json.YAML.readTree(
            "{a: {accessToken: x1, depth: {clientSecret: 5}}, list: [--password, x2, x3], tokens:"
                + " [x4], ok: true}");
    assertThat(new Redaction(List.of("x3")).document(document))
        .isEqualTo(
            Json.YAML.readTree(
                "{a: {accessToken: (removed), depth: {clientSecret: (removed)}}, list: [--password,"
                    + " (removed), (removed)], tokens: [(removed)], ok: true}"));
    assertThat(document.at("/a/accessToken").asText()).isEqualTo("x1");
  }
}
