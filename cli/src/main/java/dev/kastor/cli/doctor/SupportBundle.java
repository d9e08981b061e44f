package dev.kastor.cli.doctor;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.kastor.cli.connect.Cluster;
import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.connect.OperatorAway;
import dev.kastor.cli.connect.OperatorPage;
import dev.kastor.cli.connect.OperatorPods;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.terminal.Version;
import dev.kastor.crds.profile.ClusterTrainingProfile;
import dev.kastor.crds.queue.Queue;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.local.StateFolder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.MixedOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Collects what can be read and takes out what nobody else may see. */
final class SupportBundle {
  private static final int MOST_LOG_LINES = 20_000;
  private static final int NOT_FOUND = 404;
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final ObjectMapper YAML = new YAMLMapper();
  private static final String MANAGED_BY = "app.kubernetes.io/managed-by";

  private final ClusterOptions options;
  private final PrintWriter out;
  private final SequencedMap<String, String> texts = new TreeMap<>();
  private final List<String> missing = new ArrayList<>();
  private Redaction redaction = new Redaction(List.of());

  SupportBundle(ClusterOptions options, PrintWriter out) {
    this.options = options;
    this.out = out;
  }

  /** Something that may be refused. */
  private interface Part {
    void collect() throws IOException, OperatorAway;
  }

  void write(@Nullable Path wanted) {
    Instant now = Instant.now();
    Path file = wanted == null ? Path.of(defaultName(now)) : wanted;
    Path folder = file.toAbsolutePath().getParent();
    if (Files.isDirectory(file) || folder == null || !Files.isDirectory(folder)) {
      throw new CliException(
          ExitCode.USAGE, "-o %s is no file in a folder that exists".formatted(file));
    }
    redaction = new Redaction(secretsOf(options.target().config()));
    try (Cluster cluster = Cluster.connect(options)) {
      var version = cluster.call(() -> cluster.client().getKubernetesVersion());
      text(
          "versions.txt",
          "kastor %s%njava %s%nos %s %s%nkubernetes %s at %s%n"
              .formatted(
                  Version.number(),
                  Runtime.version(),
                  System.getProperty("os.name"),
                  System.getProperty("os.arch"),
                  version == null ? "?" : version.getGitVersion(),
                  cluster.client().getMasterUrl()));
      collect(cluster);
    }
    text("missing.txt", missing.isEmpty() ? "nothing\n" : String.join("\n", missing) + "\n");
    try {
      TarGz.write(file.toAbsolutePath(), texts, now);
    } catch (IOException e) {
      throw new CliException(
          ExitCode.FAILED, "%s cannot be written: %s".formatted(file, e.getMessage()), e);
    }
    out.printf("wrote %s: %d files%n", file, texts.size());
    missing.forEach(what -> out.println("  without " + what));
    out.println("Look through it before you send it: what a program prints may hold anything.");
    out.flush();
  }

  private static String defaultName(Instant now) {
    return "kastor-support-%s.tar.gz"
        .formatted(
            DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss").withZone(ZoneOffset.UTC).format(now));
  }

  private static List<String> secretsOf(Config config) {
    return Stream.of(
            config.getOauthToken(),
            config.getAutoOAuthToken(),
            config.getPassword(),
            config.getClientKeyData(),
            config.getClientKeyPassphrase())
        .filter(Objects::nonNull)
        .toList();
  }

  private void collect(Cluster cluster) {
    KubernetesClient client = cluster.client();
    part(
        "jobs",
        () -> each("jobs", client.resources(TrainingJob.class).inAnyNamespace().list().getItems()));
    part("queues", () -> each("queues", there(client.resources(Queue.class))));
    part("profiles", () -> each("profiles", there(client.resources(ClusterTrainingProfile.class))));
    part(
        "pods",
        () ->
            each(
                "pods",
                client.pods().inAnyNamespace().withLabel(MANAGED_BY, "kastor").list().getItems()));
    part("nodes", () -> each("nodes", client.nodes().list().getItems()));
    part(
        "configmaps",
        () ->
            each(
                "configmaps",
                client
                    .configMaps()
                    .inAnyNamespace()
                    .withLabel(MANAGED_BY, "kastor")
                    .list()
                    .getItems()));
    part("events", () -> document("events.json", JSON.valueToTree(cluster.events(null))));
    part(
        "crd",
        () -> {
          var definitions = client.apiextensions().v1().customResourceDefinitions();
          for (String kind : List.of("trainingjobs", "queues", "clustertrainingprofiles")) {
            var crd = definitions.withName(kind + ".kastor.dev").get();
            if (crd != null) {
              each("crds", List.of(crd));
            }
          }
        });
    part("operator", () -> operator(cluster));
    part("operator's page", () -> page(cluster));
    part(
        "doctor",
        () -> document("doctor.json", JSON.valueToTree(new Doctor(options, out).checks(cluster))));
  }

  /** All of a kind that an older or a local cluster need not have. */
  private static <T extends HasMetadata> List<T> there(
      MixedOperation<T, ? extends KubernetesResourceList<T>, ? extends Resource<T>> kind) {
    try {
      return kind.list().getItems();
    } catch (KubernetesClientException e) {
      if (e.getCode() == NOT_FOUND) {
        return List.of();
      }
      throw e;
    }
  }

  private void part(String name, Part part) {
    try {
      part.collect();
    } catch (KubernetesClientException | CliException | IOException | OperatorAway e) {
      missing.add(redaction.text("%s: %s".formatted(name, e.getMessage())));
    }
  }

  private void each(String folder, List<? extends HasMetadata> objects) throws IOException {
    for (HasMetadata object : objects) {
      var meta = object.getMetadata();
      String namespace = meta.getNamespace() == null ? "" : meta.getNamespace() + "/";
      texts.put(
          "%s/%s%s.yaml".formatted(folder, namespace, meta.getName()),
          YAML.writeValueAsString(redaction.document(JSON.valueToTree(object))));
    }
  }

  private void operator(Cluster cluster) throws IOException {
    List<Pod> pods = OperatorPods.of(cluster);
    each("operator", pods);
    for (Pod pod : pods) {
      var resource =
          cluster
              .client()
              .pods()
              .inNamespace(pod.getMetadata().getNamespace())
              .withName(pod.getMetadata().getName());
      text(
          "operator/%s.log".formatted(pod.getMetadata().getName()),
          resource.tailingLines(MOST_LOG_LINES).getLog());
    }
    Path local = StateFolder.home().resolve("logs").resolve("operator.log");
    if (options.target().local() && Files.exists(local)) {
      List<String> lines = Files.readAllLines(local);
      text(
          "operator/operator.log",
          String.join(
              "\n", lines.subList(Math.max(0, lines.size() - MOST_LOG_LINES), lines.size())));
    } else if (pods.isEmpty()) {
      missing.add("the operator's log: none of its pods is to be seen");
    }
  }

  private void page(Cluster cluster) throws OperatorAway, IOException {
    try (OperatorPage page = OperatorPage.open(cluster, options)) {
      text("operator/metrics.txt", page.text("/metrics"));
      for (String name : List.of("overview", "queues", "timeline")) {
        JsonNode answer = page.json("/api/v1/" + name).orElse(JSON.nullNode());
        document("operator/" + name + ".json", answer);
      }
    }
  }

  private void document(String name, JsonNode document) throws IOException {
    texts.put(
        name,
        JSON.writerWithDefaultPrettyPrinter().writeValueAsString(redaction.document(document)));
  }

  private void text(String name, String text) {
    texts.put(name, redaction.text(text));
  }
}
