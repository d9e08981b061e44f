package dev.kastor.cli.job;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.kastor.cli.terminal.Format;
import dev.kastor.cli.terminal.Ink;
import dev.kastor.cli.terminal.Table;
import dev.kastor.cli.terminal.Wrapped;
import dev.kastor.cli.view.EventView;
import dev.kastor.cli.view.JobView;
import dev.kastor.cli.view.ServerPods;
import dev.kastor.crds.client.ContainerWait;
import dev.kastor.crds.trainingjob.Pin;
import dev.kastor.crds.trainingjob.ProgramSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.TrainingStatus;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** All that is known of a job, for a person. */
final class Description {
  private static final int LABEL_WIDTH = 14;
  private static final int MAX_EVENTS = 20;

  private final TrainingJob job;
  private final List<Pod> pods;
  private final JsonNode served;
  private final List<EventView> events;
  private final Instant now;
  private final int paper;
  private final List<String> lines = new ArrayList<>();

  Description(TrainingJob job, List<Pod> pods, List<EventView> events, Instant now, int paper) {
    this(job, pods, MissingNode.getInstance(), events, now, paper);
  }

  /**
   * A description.
   *
   * @param served what the operator tells of the job's parameter servers
   */
  Description(
      TrainingJob job,
      List<Pod> pods,
      JsonNode served,
      List<EventView> events,
      Instant now,
      int paper) {
    this.job = job;
    this.pods = pods;
    this.served = served;
    this.events = events;
    this.now = now;
    this.paper = paper;
  }

  List<String> lines() {
    JobView view = JobView.of(job);
    line("Job", Ink.BOLD.on(view.namespace() + "/" + view.name()));
    line(
        job.getSpec().template() != null ? "Template" : "Program",
        job.getSpec().runs() + parameters());
    job.getSpec()
        .warmStart()
        .ifPresent(other ->
            line(
                "Warm start",
                "with the parameters of job %s, %s"
                    .formatted(
                        other.job(),
                        other.step() == null ? "its newest checkpoint" : "step " + other.step())));
    line("Phase", JobView.coloured(view.phase()));
    line(
        "Age",
        Format.between(Format.instant(view.created()), Optional.of(now))
            + (view.jctSeconds() == null
                ? ""
                : "; ended after " + Format.seconds(view.jctSeconds())));
    tags();
    if (view.note() != null) {
      line("Note", view.note());
    }
    pin();
    TrainingJobStatus status = job.getStatus();
    if (status != null) {
      allocation(view, status);
      if (status.training() != null) {
        training(view, status.training());
      }
      if (status.clients() != null && !status.clients().isEmpty()) {
        line("Clients", String.join("; ", status.clients()));
      }
      if (status.restarts() != null && status.restarts() > 0) {
        line("Restarts", status.restarts() + " from a checkpoint");
      }
      StartTable.of(status)
          .ifPresent(table -> {
            lines.add("Starts:");
            lines.addAll(table.lines(paper));
          });
      conditions(status);
    }
    updates();
    pods();
    events();
    return lines;
  }

  private void tags() {
    Map<String, String> labels = job.getMetadata().getLabels();
    if (labels != null && !labels.isEmpty()) {
      line(
          "Tags",
          labels.entrySet().stream()
              .sorted(Map.Entry.comparingByKey())
              .map(e -> e.getKey() + "=" + e.getValue())
              .collect(Collectors.joining(", ")));
    }
  }

  private void pin() {
    switch (Pin.of(job)) {
      case Pin.Free free -> {}
      case Pin.Here here -> line("Pinned", "to the replicas and nodes that it has");
      case Pin.At at -> line("Pinned", "to %d replicas".formatted(at.replicas()));
      case Pin.Unreadable unreadable ->
          line(
              "Pinned",
              "no: annotation %s is '%s' but must be here or a number of replicas"
                  .formatted(Pin.ANNOTATION, unreadable.value()));
    }
  }

  private String parameters() {
    ProgramSpec program = job.getSpec().program();
    Map<String, String> parameters = program == null ? null : program.parameters();
    return parameters == null || parameters.isEmpty()
        ? ""
        : parameters.entrySet().stream()
            .sorted(Map.Entry.comparingByKey())
            .map(e -> e.getKey() + "=" + e.getValue())
            .collect(Collectors.joining(", ", " (", ")"));
  }

  private void allocation(JobView view, TrainingJobStatus status) {
    var allocation = status.allocation();
    if (allocation == null) {
      line(
          "Replicas",
          "none yet (may have %d to %d%s)"
              .formatted(view.minReplicas(), view.maxReplicas(), view.each()));
      return;
    }
    String nodes =
        allocation.nodes().entrySet().stream()
            .sorted(Map.Entry.comparingByKey())
            .map(e -> e.getValue() + " on " + e.getKey())
            .collect(Collectors.joining(", "));
    line(
        "Replicas",
        "%d%s (may have %d to %d)%s"
            .formatted(
                allocation.replicas(),
                view.each(),
                view.minReplicas(),
                view.maxReplicas(),
                nodes.isEmpty() ? "" : ": " + nodes));
    line("Why", allocation.reason() + ": " + allocation.message());
    line("Since", Format.between(Format.instant(allocation.since()), Optional.of(now)) + " ago");
  }

  private void training(JobView view, TrainingStatus training) {
    line(
        "Progress",
        "%d%%, step %d, %d examples, epoch %d%s"
            .formatted(
                training.percent(),
                training.step(),
                training.examples(),
                training.epoch(),
                view.eta() == null
                    ? ""
                    : ", done in " + Format.between(Optional.of(now), Format.instant(view.eta()))));
    line(
        "Batch",
        "%d = replicas x %d x (%d + 1); between %d and %d so far"
            .formatted(
                training.globalBatch(),
                training.atomicBatch(),
                training.accumulationSteps(),
                training.minGlobalBatch(),
                training.maxGlobalBatch()));
    line(
        "Goodput",
        "%s examples/s = throughput %s x efficiency %s; noise scale %s examples"
            .formatted(
                Format.number(training.goodput()),
                Format.number(training.throughput()),
                Format.number(training.efficiency()),
                Format.number(training.noiseScale())));
    fits(training.mostExamples());
    predicted(training.predictedGoodput());
    view.gpuTypes().ifPresent(types -> line("GPU types", types));
    line("Loss", Format.number(training.loss()));
    line(
        "Rescales",
        "%d (%d up, %d down), pause median %s, longest %s"
            .formatted(
                training.rescales(),
                training.grows(),
                training.shrinks(),
                millis(training.medianPauseMillis()),
                millis(training.maxPauseMillis())));
    if (training.checkpointStep() != null) {
      line(
          "Checkpoint",
          "step %d, %s old"
              .formatted(
                  training.checkpointStep(),
                  Format.between(Format.instant(training.checkpointTime()), Optional.of(now))));
    }
    if (training.finalMetric() != null) {
      line("Result", training.metricName() + " " + Format.number(training.finalMetric()));
    }
    if (training.lostOrRepeatedExamples() != null) {
      line("Audit", training.lostOrRepeatedExamples() + " examples lost or trained twice");
    }
  }

  private void fits(@Nullable Map<String, Integer> most) {
    if (most != null && !most.isEmpty()) {
      line(
          "Memory",
          most.entrySet().stream()
              .sorted(Map.Entry.comparingByKey())
              .map(e -> e.getValue() + (e.getKey().isEmpty() ? "" : " on " + e.getKey()))
              .collect(Collectors.joining(", ", "fits examples a pass: ", "")));
    }
  }

  private void predicted(@Nullable Map<String, Double> predicted) {
    if (predicted != null && !predicted.isEmpty()) {
      line(
          "Predicted",
          predicted.entrySet().stream()
              .sorted(Comparator.comparingInt(e -> Integer.parseInt(e.getKey())))
              .map(e -> "%s: %s".formatted(e.getKey(), Format.number(e.getValue())))
              .collect(Collectors.joining(", ", "goodput by replicas ", "")));
    }
  }

  private void conditions(TrainingJobStatus status) {
    List<Condition> conditions = status.conditions();
    if (conditions != null && !conditions.isEmpty()) {
      lines.add("Conditions:");
      Table table = new Table("  TYPE", "STATUS", "REASON", "MESSAGE");
      conditions.forEach(c ->
          table.row(
              List.of(
                  "  " + c.getType(), c.getStatus(), text(c.getReason()), text(c.getMessage()))));
      lines.addAll(table.lines(paper));
    }
  }

  private void pods() {
    pods("Pods:", pods.stream().filter(pod -> !ServerPods.is(pod)).toList());
    pods(
        "Parameter servers:",
        pods.stream()
            .filter(ServerPods::is)
            .sorted(Comparator.comparingInt(pod -> ServerPods.index(pod).getAsInt()))
            .toList());
  }

  private void pods(String title, List<Pod> some) {
    if (!some.isEmpty()) {
      lines.add(title);
      Table table = new Table("  NAME", "PHASE", "NODE", "");
      some.forEach(p ->
          table.row(
              List.of(
                  "  " + p.getMetadata().getName(),
                  p.getStatus() == null ? "" : text(p.getStatus().getPhase()),
                  text(p.getSpec().getNodeName()),
                  ContainerWait.of(p).map(ContainerWait::reason).orElse(""))));
      lines.addAll(table.lines(paper));
    }
  }

  /** Updates that the servers applied, by staleness, if the operator tells. */
  private void updates() {
    long dropped = served.path("droppedCopies").asLong();
    if (dropped > 0) {
      String shares = dropped == 1 ? "1 share of a step" : dropped + " shares of steps";
      line("Copies", shares + " came after a copy of the same share");
    }
    JsonNode counts = served.path("staleness");
    long all = 0;
    for (JsonNode count : counts) {
      all += count.asLong();
    }
    List<String> shares = new ArrayList<>();
    for (int i = 0; i < counts.size(); i++) {
      long count = counts.path(i).asLong();
      if (count > 0) {
        boolean last = i == counts.size() - 1 && i > 0;
        shares.add(
            String.format(
                Locale.ROOT, "%d%s: %.1f %%", i, last ? " or more" : "", 100.0 * count / all));
      }
    }
    if (!shares.isEmpty()) {
      line("Staleness", "of %d updates, %s".formatted(all, String.join(", ", shares)));
    }
  }

  private void events() {
    if (!events.isEmpty()) {
      lines.add("Events:");
      Table table = new Table("  AGE", "REASON", "MESSAGE");
      events.stream()
          .skip(Math.max(0, events.size() - MAX_EVENTS))
          .forEach(e ->
              table.row(
                  List.of(
                      "  " + Format.between(Format.instant(e.time()), Optional.of(now)),
                      e.reason(),
                      e.message())));
      lines.addAll(table.lines(paper));
    }
  }

  private void line(String label, String value) {
    String prefix = String.format(Locale.ROOT, "%-" + LABEL_WIDTH + "s", label + ":");
    for (String part : Wrapped.lines(value, paper - LABEL_WIDTH)) {
      lines.add(prefix + part);
      prefix = " ".repeat(LABEL_WIDTH);
    }
  }

  private static String millis(@Nullable Long millis) {
    return millis == null ? "-" : millis + " ms";
  }

  private static String text(@Nullable String text) {
    return text == null ? "" : text;
  }
}
