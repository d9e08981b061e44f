package dev.kastor.cli.doctor;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.kastor.cli.connect.Cluster;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.terminal.Format;
import dev.kastor.cli.terminal.Version;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.local.Installation;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.VersionInfo;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpResponse;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/** Whether the API server is there, keeps time and knows TrainingJobs. */
final class ApiServerChecks {
  private static final int OLDEST_MINOR = 29;
  private static final Duration MOST_SKEW = Duration.ofSeconds(5);
  private static final int PATIENCE_SECONDS = 10;
  private static final String CRD = "trainingjobs.kastor.dev";
  private static final int OK = 200;
  private static final int FORBIDDEN = 403;
  private static final int NOT_FOUND = 404;

  private final Cluster cluster;
  private final KubernetesClient client;

  ApiServerChecks(Cluster cluster) {
    this.cluster = cluster;
    client = cluster.client();
  }

  Check reachable() {
    VersionInfo version;
    try {
      version = cluster.call(client::getKubernetesVersion);
    } catch (CliException e) {
      return Check.fail(
          "api-server", String.valueOf(e.getMessage()), "Check the kubeconfig and the network");
    }
    if (version == null) {
      return Check.fail(
          "api-server",
          "%s does not say its version".formatted(client.getMasterUrl()),
          "Check that the address is that of a Kubernetes API server");
    }
    String minor = String.valueOf(version.getMinor()).replaceAll("\\D", "");
    if (!minor.isEmpty() && Integer.parseInt(minor) < OLDEST_MINOR) {
      return Check.warn(
          "api-server",
          "%s is Kubernetes %s".formatted(client.getMasterUrl(), version.getGitVersion()),
          "Kastor needs 1.%d or newer: upgrade the cluster".formatted(OLDEST_MINOR));
    }
    return Check.ok(
        "api-server",
        "%s answers, Kubernetes %s".formatted(client.getMasterUrl(), version.getGitVersion()));
  }

  /** Tokens, leases and waits compare clocks. */
  Check clock() {
    Instant before = Instant.now();
    try {
      String date = get("version").header("Date");
      if (date == null) {
        return Check.warn("clock", "the API server tells no time", "Compare the clocks by hand");
      }
      return clock(
          ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant(),
          before,
          Instant.now());
    } catch (ExecutionException | TimeoutException | IOException | DateTimeException e) {
      return Check.warn(
          "clock", "the API server's time is not known: " + e.getMessage(), "Try again");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Check.warn("clock", "interrupted", "Try again");
    }
  }

  /**
   * Check of what the server itself says of its parts: in local mode of journal, kubelet and disk.
   */
  Check ready() {
    try {
      HttpResponse<String> answer = get("readyz?verbose");
      return ready(answer.code(), answer.body());
    } catch (ExecutionException | TimeoutException | IOException e) {
      return Check.warn("ready", "the API server does not say: " + e.getMessage(), "Try again");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Check.warn("ready", "interrupted", "Try again");
    }
  }

  static Check ready(int code, String said) {
    if (code == FORBIDDEN || code == NOT_FOUND) {
      return Check.warn(
          "ready", "you may not ask the API server", "Ask for the right to get /readyz");
    }
    String failed =
        said.lines()
            .filter(line -> line.startsWith("[-]"))
            .map(line -> line.substring(3))
            .collect(Collectors.joining("; "));
    return code == OK
        ? Check.ok(
            "ready",
            "the API server's %d checks pass"
                .formatted(said.lines().filter(line -> line.startsWith("[+]")).count()))
        : Check.fail(
            "ready",
            failed.isEmpty() ? "the API server answers %d".formatted(code) : failed,
            "See its log. In local mode: make room on the disk; if that is not it, kastor down and"
                + " kastor up");
  }

  private HttpResponse<String> get(String path)
      throws IOException, ExecutionException, TimeoutException, InterruptedException {
    HttpClient http = client.getHttpClient();
    return http.sendAsync(
            http.newHttpRequestBuilder()
                .url(URI.create(client.getMasterUrl() + path).toURL())
                .build(),
            String.class)
        .get(PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  /** The header counts whole seconds, and the answer was made at some time between. */
  static Check clock(Instant server, Instant before, Instant after) {
    Duration ahead = Duration.between(after, server);
    Duration behind = Duration.between(server.plusSeconds(1), before);
    Duration skew = ahead.compareTo(behind) > 0 ? ahead : behind;
    return skew.compareTo(MOST_SKEW) > 0
        ? Check.warn(
            "clock",
            "the API server's clock is %s %s this machine's"
                .formatted(Format.duration(skew), skew.equals(ahead) ? "ahead of" : "behind"),
            "Let both be set by NTP: tokens and leases are judged by the clock")
        : Check.ok("clock", "agrees with the API server's");
  }

  Check crd() {
    CustomResourceDefinition installed;
    try {
      installed = client.apiextensions().v1().customResourceDefinitions().withName(CRD).get();
    } catch (KubernetesClientException e) {
      if (e.getCode() == FORBIDDEN) {
        return byListing();
      }
      throw e;
    }
    if (installed == null) {
      return Check.fail(
          "crd",
          "there is no CRD " + CRD,
          "Install the chart, or: kubectl apply --server-side --force-conflicts -f helm/kastor/crds/");
    }
    JsonNode here = new ObjectMapper().valueToTree(installed);
    return crd(here, shipped());
  }

  static Check crd(JsonNode installed, JsonNode shipped) {
    JsonNode mine = schema(shipped);
    JsonNode theirs = schema(installed);
    if (theirs.isMissingNode()) {
      return Check.fail(
          "crd",
          "CRD %s does not serve version %s".formatted(CRD, TrainingJob.VERSION),
          "Upgrade it: kubectl apply --server-side --force-conflicts -f helm/kastor/crds/");
    }
    for (JsonNode condition : installed.at("/status/conditions")) {
      if (condition.path("type").asText().equals("Established")
          && !condition.path("status").asText().equals("True")) {
        return Check.fail(
            "crd",
            "CRD %s is not established: %s".formatted(CRD, condition.path("message").asText()),
            "See what is wrong: kubectl describe crd " + CRD);
      }
    }
    return mine.equals(theirs)
        ? Check.ok("crd", "%s is that of this kastor (%s)".formatted(CRD, Version.number()))
        : Check.warn(
            "crd",
            "%s is of another version than this kastor (%s)".formatted(CRD, Version.number()),
            "Use the kastor of the chart, or upgrade the CRD: kubectl apply --server-side --force-conflicts -f"
                + " helm/kastor/crds/");
  }

  private static JsonNode schema(JsonNode crd) {
    for (JsonNode version : crd.at("/spec/versions")) {
      if (version.path("name").asText().equals(TrainingJob.VERSION)
          && version.path("served").asBoolean()) {
        return version.at("/schema/openAPIV3Schema");
      }
    }
    return crd.at("/none");
  }

  /** Read as the client reads what is installed, so that both leave out the same. */
  private static JsonNode shipped() {
    try (InputStream crd =
        ApiServerChecks.class.getClassLoader().getResourceAsStream(Installation.crdResource())) {
      return new ObjectMapper()
          .valueToTree(
              new YAMLMapper()
                  .readValue(Objects.requireNonNull(crd), CustomResourceDefinition.class));
    } catch (IOException e) {
      throw new CliException(ExitCode.FAILED, "this build lacks the CRD", e);
    }
  }

  private Check byListing() {
    try {
      int jobs = client.resources(TrainingJob.class).inAnyNamespace().list().getItems().size();
      return Check.ok(
          "crd", "may not be read by you, but %d TrainingJobs can be listed".formatted(jobs));
    } catch (KubernetesClientException e) {
      return Check.warn(
          "crd",
          "neither the CRD nor TrainingJobs can be read by you",
          "Ask for the right to list trainingjobs.kastor.dev");
    }
  }
}
