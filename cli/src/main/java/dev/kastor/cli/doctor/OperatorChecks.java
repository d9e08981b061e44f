package dev.kastor.cli.doctor;

import dev.kastor.cli.connect.Cluster;
import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.connect.OperatorAway;
import dev.kastor.cli.connect.OperatorPage;
import dev.kastor.cli.connect.OperatorPods;
import dev.kastor.cli.terminal.Format;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Whether the operator is there, leads and answers. */
final class OperatorChecks {
  private static final Duration STALE = Duration.ofSeconds(60);
  private static final Pattern SAMPLE =
      Pattern.compile("^(kastor_[a-z_]+)(?:\\{[^}]*})? ([0-9.eE+-]+)$", Pattern.MULTILINE);

  private final Cluster cluster;
  private final ClusterOptions options;

  OperatorChecks(Cluster cluster, ClusterOptions options) {
    this.cluster = cluster;
    this.options = options;
  }

  List<Check> all() {
    List<Check> checks = new ArrayList<>();
    if (options.operator() == null) {
      List<Pod> pods = OperatorPods.of(cluster);
      checks.add(pods(pods));
      if (!pods.isEmpty()) {
        String namespace = pods.getFirst().getMetadata().getNamespace();
        checks.add(leader(pods, OperatorPods.leases(cluster, namespace), Instant.now()));
      }
    }
    try (OperatorPage page = OperatorPage.open(cluster, options)) {
      page.text("/q/health/ready");
      if (options.operator() != null) {
        checks.add(Check.ok("operator", "is ready at %s".formatted(options.operator())));
      }
      page.text("/");
      checks.add(Check.ok("web-page", "answers"));
      String metrics = page.text("/metrics");
      checks.add(watches(metrics));
      checks.add(telemetry(metrics));
    } catch (OperatorAway e) {
      String remedy =
          "See its log: kubectl -n NAMESPACE logs deploy/RELEASE-kastor, in local mode"
              + " KASTOR_HOME/logs/operator.log";
      checks.add(
          options.operator() != null
              ? Check.fail("operator", String.valueOf(e.getMessage()), remedy)
              : Check.warn(
                  "web-page",
                  String.valueOf(e.getMessage()),
                  "why, history and queue need the right to forward a port to the operator's pod"));
    }
    return checks;
  }

  static Check pods(List<Pod> pods) {
    if (pods.isEmpty()) {
      return Check.warn(
          "operator",
          "no pod labelled app.kubernetes.io/name=kastor is to be seen",
          "Install the chart: helm install kastor helm/kastor; or you may not list pods there");
    }
    List<Pod> ready = pods.stream().filter(OperatorPods::ready).toList();
    if (ready.isEmpty()) {
      return Check.fail(
          "operator",
          "none of its %d pods is ready%s".formatted(pods.size(), waiting(pods)),
          "See why: kubectl -n %s describe pod %s"
              .formatted(
                  pods.getFirst().getMetadata().getNamespace(),
                  pods.getFirst().getMetadata().getName()));
    }
    return Check.ok(
        "operator",
        "%d of %d pods ready in namespace %s"
            .formatted(ready.size(), pods.size(), ready.getFirst().getMetadata().getNamespace()));
  }

  private static String waiting(List<Pod> pods) {
    for (Pod pod : pods) {
      for (ContainerStatus container : statuses(pod)) {
        if (container.getState() != null && container.getState().getWaiting() != null) {
          var waiting = container.getState().getWaiting();
          return ": %s %s"
              .formatted(
                  waiting.getReason(), waiting.getMessage() == null ? "" : waiting.getMessage());
        }
      }
    }
    return "";
  }

  private static List<ContainerStatus> statuses(Pod pod) {
    return pod.getStatus() == null || pod.getStatus().getContainerStatuses() == null
        ? List.of()
        : pod.getStatus().getContainerStatuses();
  }

  static Check leader(List<Pod> pods, List<Lease> leases, Instant now) {
    for (Lease lease : leases) {
      String holder = lease.getSpec().getHolderIdentity();
      if (pods.stream().anyMatch(pod -> pod.getMetadata().getName().equals(holder))) {
        Optional<Instant> renewed =
            Optional.ofNullable(lease.getSpec().getRenewTime()).map(ZonedDateTime::toInstant);
        String ago = Format.between(renewed, Optional.of(now));
        return renewed.isPresent() && renewed.get().plus(STALE).isBefore(now)
            ? Check.fail(
                "leader",
                "%s renewed its lease %s ago".formatted(holder, ago),
                "No operator decides: look at its log, and delete the pod if it hangs")
            : Check.ok("leader", "%s leads, its lease renewed %s ago".formatted(holder, ago));
      }
    }
    return pods.size() == 1
        ? Check.ok("leader", "one operator, without election")
        : Check.fail(
            "leader",
            "%d operators and no lease of theirs".formatted(pods.size()),
            "Two operators must not decide at once: turn leader election on, or scale to one");
  }

  /** Whether what the operator knows of the cluster is new. */
  static Check watches(String metrics) {
    Matcher sample = SAMPLE.matcher(metrics);
    while (sample.find()) {
      if (sample.group(1).equals("kastor_watching") && Double.parseDouble(sample.group(2)) == 0) {
        return Check.fail(
            "watches",
            "the operator does not hear of changes of jobs, pods, nodes or queues",
            "It tries again every few seconds. If the API server answers, see why in the operator's"
                + " log, and delete its pod");
      }
    }
    return Check.ok("watches", "the operator hears of changes");
  }

  /** Whether agents' reports arrive while jobs run. */
  static Check telemetry(String metrics) {
    double running = 0;
    double accepted = 0;
    double refused = 0;
    Matcher sample = SAMPLE.matcher(metrics);
    while (sample.find()) {
      double value = Double.parseDouble(sample.group(2));
      switch (sample.group(1)) {
        case "kastor_telemetry_reports_total" -> accepted += value;
        case "kastor_telemetry_refused_total" -> refused += value;
        case "kastor_jobs" -> running += sample.group().contains("\"Running\"") ? value : 0;
        default -> {}
      }
    }
    String found =
        "running jobs: %.0f; reports: %.0f accepted, %.0f refused"
            .formatted(running, accepted, refused);
    if (running > 0 && accepted == 0) {
      return Check.fail(
          "telemetry",
          found,
          "Agents cannot reach the operator: check kastor.agent.operator-url, its certificate and"
              + " network policies, and: kastor logs JOB");
    }
    return refused > accepted
        ? Check.warn("telemetry", found, "See why in kastor_telemetry_refused by reason")
        : Check.ok("telemetry", found);
  }

  /** The setting of an operator's Deployment, if it can be read; for what checks compare. */
  static Map<String, @Nullable String> environment(Pod pod) {
    Map<String, @Nullable String> environment = new java.util.TreeMap<>();
    pod.getSpec().getContainers().stream()
        .flatMap(container -> container.getEnv().stream())
        .forEach(variable -> environment.put(variable.getName(), variable.getValue()));
    return environment;
  }
}
