package dev.kastor.cli.whatif;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.cli.connect.Cluster;
import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.connect.OperatorAway;
import dev.kastor.cli.connect.OperatorPage;
import dev.kastor.cli.manifest.ManifestFile;
import dev.kastor.cli.manifest.Refusal;
import dev.kastor.cli.plugin.KnownPolicies;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.terminal.Output;
import dev.kastor.cli.terminal.Paper;
import dev.kastor.plugin.Registry;
import dev.kastor.scheduler.live.JobDocument;
import dev.kastor.scheduler.live.LiveCluster;
import dev.kastor.scheduler.live.LiveDocument;
import dev.kastor.scheduler.live.LiveJob;
import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.PolicyFactory;
import dev.kastor.scheduler.policy.PolicyPlugin;
import dev.kastor.scheduler.whatif.OverdueException;
import dev.kastor.scheduler.whatif.Supposition;
import dev.kastor.simulator.whatif.WhatIf;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Asks the operator for the cluster as it is, replays its future, and prints the difference. */
final class Asking {
  /** Nobody waits longer for an answer about a live cluster. */
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private static final ObjectMapper JSON =
      new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

  private final ClusterOptions options;
  private final PrintWriter out;

  Asking(ClusterOptions options, PrintWriter out) {
    this.options = options;
    this.out = out;
  }

  void run(Asked asked, Output output) {
    AnswerText answer = new AnswerText(answered(asked));
    switch (output) {
      case JSON, YAML -> output.print(answer.document(), out);
      case NAME -> answer.names().forEach(out::println);
      case TABLE -> answer.lines(Paper.width()).forEach(out::println);
      case WIDE -> answer.lines(Paper.ENDLESS).forEach(out::println);
    }
    out.flush();
  }

  private WhatIf answered(Asked asked) {
    Registry<PolicyPlugin> policies = KnownPolicies.read();
    asked.check();
    check(asked.policy(), policies);
    try (Cluster cluster = Cluster.connect(options);
        OperatorPage page = OperatorPage.open(cluster, options)) {
      List<Supposition> suppositions = new ArrayList<>();
      for (GenericKubernetesResource job : checked(cluster, asked.files())) {
        suppositions.add(new Supposition.Added(added(page, job)));
      }
      LiveCluster live = snapshot(page);
      suppositions.addAll(asked.suppositions(live, options.namespace()));
      long end = System.nanoTime() + PATIENCE.toNanos();
      return WhatIf.of(
          live,
          suppositions,
          (name, seed) -> policy(policies, name, seed, live),
          asked.unknown(),
          () -> System.nanoTime() > end);
    } catch (OperatorAway e) {
      throw new CliException(ExitCode.FAILED, "whatif needs the operator: " + e.getMessage(), e);
    } catch (OverdueException e) {
      throw new CliException(
          ExitCode.FAILED,
          "%s after %d minutes. Ask while fewer jobs run and wait."
              .formatted(e.getMessage(), PATIENCE.toMinutes()),
          e);
    } catch (IllegalArgumentException e) {
      throw new CliException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
    }
  }

  private static void check(@Nullable String policy, Registry<PolicyPlugin> policies) {
    if (policy != null) {
      try {
        var _ = policies.choose(policy);
      } catch (IllegalArgumentException e) {
        throw new CliException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
      }
    }
  }

  private static PolicyFactory policy(
      Registry<PolicyPlugin> policies, String name, long seed, LiveCluster live) {
    try {
      return PolicyFactory.of(policies.choose(name), PolicyContext.online(seed));
    } catch (IllegalArgumentException e) {
      if (!name.equals(live.policy())) {
        throw e;
      }
      throw new CliException(
          ExitCode.FAILED,
          "the cluster's policy is not known here: %s. Put its jar into the folder plugins of KASTOR_HOME."
              .formatted(e.getMessage()),
          e);
    }
  }

  /** The jobs of files as the API server would store them. */
  private List<GenericKubernetesResource> checked(Cluster cluster, List<Path> files) {
    List<GenericKubernetesResource> jobs = new ArrayList<>();
    List<String> refusals = new ArrayList<>();
    for (Path file : files) {
      for (Path each : ManifestFile.files(file)) {
        for (ManifestFile manifest : ManifestFile.read(each)) {
          if (!manifest.isJob()) {
            throw new CliException(
                ExitCode.USAGE,
                "%s: a %s cannot be added here, only TrainingJobs can"
                    .formatted(each, manifest.resource().getKind()));
          }
          String namespace = manifest.namespace(options.namespace());
          try {
            GenericKubernetesResource job = cluster.create(namespace, manifest.resource(), true);
            job.getMetadata().setNamespace(namespace);
            jobs.add(job);
          } catch (KubernetesClientException e) {
            refusals.addAll(Refusal.lines(manifest, e));
          }
        }
      }
    }
    if (!refusals.isEmpty()) {
      throw new CliException(ExitCode.USAGE, String.join("\n        ", refusals));
    }
    return jobs;
  }

  private static LiveJob added(OperatorPage page, GenericKubernetesResource job)
      throws OperatorAway {
    try {
      return read(
          page.json("/api/v1/snapshot/job", JSON.writeValueAsString(job)),
          JobDocument.class,
          JobDocument::job);
    } catch (JsonProcessingException e) {
      throw new CliException(ExitCode.FAILED, "the job cannot be written as JSON", e);
    }
  }

  private static LiveCluster snapshot(OperatorPage page) throws OperatorAway {
    JsonNode told =
        page.json("/api/v1/snapshot")
            .orElseThrow(
                () -> new OperatorAway("it is older than this command and has no snapshot", null));
    return read(told, LiveDocument.class, LiveDocument::cluster);
  }

  private static <D, T> T read(JsonNode told, Class<D> document, Function<D, T> meaning)
      throws OperatorAway {
    try {
      return meaning.apply(JSON.treeToValue(told, document));
    } catch (JsonProcessingException | IllegalArgumentException | DateTimeParseException e) {
      throw new OperatorAway(
          "its snapshot cannot be read. Use a command of the operator's version: " + e.getMessage(),
          e);
    }
  }
}
