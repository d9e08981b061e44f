package dev.kastor.cli.why;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import dev.kastor.cli.connect.Cluster;
import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.connect.OperatorAway;
import dev.kastor.cli.connect.OperatorPage;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.Format;
import dev.kastor.cli.terminal.Ink;
import dev.kastor.cli.terminal.Output;
import dev.kastor.cli.terminal.Paper;
import dev.kastor.cli.terminal.Wrapped;
import dev.kastor.cli.view.JobView;
import dev.kastor.crds.client.ContainerWait;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.scheduler.model.ReasonNumber;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Explains what the scheduler decided on a job. */
final class Why {
  private final ClusterOptions options;
  private final PrintWriter out;
  private final PrintWriter err;

  /**
   * What {@code -o json} prints.
   *
   * @param job the job as lists show it
   * @param decision the newest decision; absent before the first
   * @param toGetMore what would have to change for it to get more GPUs
   * @param podsWait its pods that do not come up, each with what the kubelet says
   * @param priorityLimited why its priority counts less than it asks for; absent if it does not
   * @param refused why it has fewer pods than it could have; absent if nothing refuses them
   * @param operatorAway why the operator could not be asked, so that numbers are missing
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Answer(
      JobView job,
      @Nullable Decision decision,
      List<String> toGetMore,
      List<String> podsWait,
      @Nullable String priorityLimited,
      @Nullable String refused,
      @Nullable String operatorAway) {}

  Why(ClusterOptions options, PrintWriter out, PrintWriter err) {
    this.options = options;
    this.out = out;
    this.err = err;
  }

  void run(String name, Output output) {
    try (Cluster cluster = Cluster.connect(options)) {
      Answer answer = answer(cluster, name);
      switch (output) {
        case JSON, YAML -> output.print(answer, out);
        case NAME -> out.println(answer.job().resource());
        case TABLE, WIDE -> {
          if (answer.operatorAway() != null) {
            err.println("kastor: without numbers: " + answer.operatorAway());
            err.flush();
          }
          boolean wide = output == Output.WIDE;
          lines(answer, Instant.now(), wide ? Paper.ENDLESS : Paper.width()).forEach(out::println);
          if (wide) {
            figures(answer).forEach(out::println);
          }
        }
      }
      out.flush();
    }
  }

  private Answer answer(Cluster cluster, String name) {
    TrainingJob job = cluster.get(options.namespace(), name);
    JobView view = JobView.of(job);
    Optional<Decision> decision = Decision.of(job);
    String away = null;
    if (!view.ended()) {
      try (OperatorPage page = OperatorPage.open(cluster, options)) {
        Optional<JsonNode> told =
            page.json("/api/v1/jobs/%s/%s/decision".formatted(options.namespace(), name));
        decision = told.map(Decision::of).or(() -> Decision.of(job));
      } catch (OperatorAway e) {
        away = e.getMessage();
      }
    }
    return new Answer(
        view,
        decision.orElse(null),
        decision.map(d -> Counterfactual.of(view, d)).orElse(List.of()),
        view.ended() || view.replicas() == 0 ? List.of() : podsWait(cluster, name),
        view.ended() ? null : condition(job, "PriorityLimited"),
        view.ended() ? null : condition(job, "PodsRefused"),
        away);
  }

  /** Reason and message of a condition of this type that holds; null if none does. */
  static @Nullable String condition(TrainingJob job, String type) {
    TrainingJobStatus status = job.getStatus();
    return status == null || status.conditions() == null
        ? null
        : status.conditions().stream()
            .filter(condition ->
                type.equals(condition.getType()) && "True".equals(condition.getStatus()))
            .map(condition -> condition.getReason() + ": " + condition.getMessage())
            .findFirst()
            .orElse(null);
  }

  /** Pods of the job that do not come up, with what the kubelet says. */
  private List<String> podsWait(Cluster cluster, String name) {
    try {
      return cluster.pods(options.namespace(), name).stream()
          .flatMap(pod ->
              ContainerWait.of(pod)
                  .map(wait -> pod.getMetadata().getName() + ": " + wait.reason())
                  .stream())
          .toList();
    } catch (CliException e) {
      // Who may read jobs and no pods is told the rest.
      err.println("kastor: without pods: " + e.getMessage());
      return List.of();
    }
  }

  static List<String> lines(Answer answer, Instant now, int paper) {
    JobView job = answer.job();
    List<String> lines = new ArrayList<>();
    lines.add(
        "%s/%s is %s%s"
            .formatted(
                job.namespace(),
                Ink.BOLD.on(job.name()),
                JobView.coloured(job.phase()),
                size(job)));
    Decision decision = answer.decision();
    if (decision == null) {
      lines.add("No round has decided on it yet.");
      return lines;
    }
    add(
        lines,
        "Why",
        "%s: %s%s"
            .formatted(
                decision.reason(),
                decision.message(),
                decision.at() == null
                    ? ""
                    : " (%s ago)"
                        .formatted(
                            Format.between(Format.instant(decision.at()), Optional.of(now)))),
        paper);
    if (answer.priorityLimited() != null) {
      add(lines, "Priority", answer.priorityLimited(), paper);
    }
    if (answer.refused() != null) {
      add(lines, "Pods", answer.refused(), paper);
    }
    String pods = "Pods";
    for (String wait : answer.podsWait()) {
      add(lines, pods, wait, paper);
      pods = "";
    }
    job.gpuTypes().ifPresent(types -> add(lines, "GPU types", types, paper));
    decision
        .number(ReasonNumber.SLOWDOWN)
        .ifPresent(times ->
            add(
                lines,
                "Slow node",
                String.format(
                    Locale.ROOT,
                    "steps take %.1f times as long on one of its nodes as on others of its type",
                    times),
                paper));
    String label = "To get more";
    for (String sentence : answer.toGetMore()) {
      add(lines, label, sentence, paper);
      label = "";
    }
    if (!job.ended()) {
      add(lines, "Expected", expected(decision, now), paper);
    }
    return lines;
  }

  /** Lines that only a wide answer has. */
  static List<String> figures(Answer answer) {
    List<String> lines = new ArrayList<>();
    if (answer.decision() != null) {
      String label = "Figures";
      for (String each : Counterfactual.figures(answer.job(), answer.decision())) {
        add(lines, label, each, Paper.ENDLESS);
        label = "";
      }
    }
    return lines;
  }

  private static String size(JobView job) {
    return job.ended()
        ? ""
        : " with %d %s%s (may have %d to %d)"
            .formatted(
                job.replicas(),
                job.replicas() == 1 ? "replica" : "replicas",
                job.each(),
                job.minReplicas(),
                job.maxReplicas());
  }

  private static String expected(Decision decision, Instant now) {
    String start = in(decision.expectedStart(), now);
    String finish = in(decision.expectedFinish(), now);
    if (decision.replicas() > 0) {
      return finish.equals("-") ? "end not known yet" : "done in " + finish;
    }
    return start.equals("-")
        ? "start not known"
        : "starts in about %s, done in %s at the earliest, if nobody else comes"
            .formatted(start, finish);
  }

  private static String in(@Nullable String instant, Instant now) {
    return Format.between(Optional.of(now), Format.instant(instant));
  }

  private static void add(List<String> lines, String label, String text, int paper) {
    String prefix = "%-13s".formatted(label.isEmpty() ? "" : label + ":");
    for (String part : Wrapped.lines(text, paper - prefix.length())) {
      lines.add(prefix + part);
      prefix = " ".repeat(prefix.length());
    }
  }
}
