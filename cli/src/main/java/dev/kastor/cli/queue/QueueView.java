package dev.kastor.cli.queue;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import dev.kastor.cli.terminal.Format;
import dev.kastor.cli.view.JobView;
import dev.kastor.crds.trainingjob.TrainingJob;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A queue as lists show it; also what {@code -o json} prints.
 *
 * @param name as jobs name it; empty for jobs that name none
 * @param weight its weight; absent where the operator cannot be asked
 * @param running jobs that hold GPUs
 * @param waiting jobs that hold none
 * @param slotsHeld GPUs that its jobs hold
 * @param slotsWanted GPUs that its jobs would hold at their largest
 * @param deserved share of the cluster that its weight deserves, in [0, 1]
 * @param obtained share of the cluster that its jobs hold, in [0, 1]
 * @param cohort the queues that it borrows of and lends to; absent for none
 * @param quota GPUs that it is entitled to; absent where it has no quota
 * @param borrowingLimit most GPUs beyond its quota; absent for no limit
 * @param lendingLimit most GPUs of its quota that others may hold; absent for no limit
 * @param borrowed GPUs that its jobs hold beyond its quota
 * @param lent GPUs of its quota that others of its cohort hold
 * @param budget GPU-hours of its budget; absent where it has none
 * @param budgetPeriod day, week or month
 * @param budgetUsed GPU-hours that its jobs held since the period began
 * @param budgetUntil when the next period begins
 * @param stopPolicy HOLD or HOLD_AND_DRAIN where it lets nobody start, or run; else absent
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record QueueView(
    String name,
    @Nullable Double weight,
    int running,
    int waiting,
    int slotsHeld,
    int slotsWanted,
    @Nullable Double deserved,
    @Nullable Double obtained,
    @Nullable String cohort,
    @Nullable Integer quota,
    @Nullable Integer borrowingLimit,
    @Nullable Integer lendingLimit,
    @Nullable Integer borrowed,
    @Nullable Integer lent,
    @Nullable Double budget,
    @Nullable String budgetPeriod,
    @Nullable Double budgetUsed,
    @Nullable String budgetUntil,
    @Nullable String stopPolicy) {
  static final String[] HEADER = {
    "QUEUE",
    "COHORT",
    "WEIGHT",
    "RUNNING",
    "WAITING",
    "GPUS",
    "QUOTA",
    "BORROWED",
    "LENT",
    "WANTED",
    "DESERVED",
    "OBTAINED",
    "BUDGET"
  };

  static List<QueueView> of(JsonNode queues) {
    List<QueueView> views = new ArrayList<>();
    for (JsonNode queue : queues) {
      double total = queue.path("slotsTotal").asDouble();
      views.add(
          new QueueView(
              queue.path("name").asText(),
              queue.path("weight").asDouble(),
              queue.path("running").asInt(),
              queue.path("waiting").asInt(),
              queue.path("slotsHeld").asInt(),
              queue.path("slotsWanted").asInt(),
              total > 0 ? queue.path("slotsDeserved").asDouble() / total : 0,
              total > 0 ? queue.path("slotsHeld").asDouble() / total : 0,
              text(queue, "cohort"),
              number(queue, "nominal"),
              number(queue, "borrowingLimit"),
              number(queue, "lendingLimit"),
              number(queue, "borrowed"),
              number(queue, "lent"),
              decimal(queue, "budget"),
              text(queue, "budgetPeriod"),
              decimal(queue, "budgetUsed"),
              text(queue, "budgetUntil"),
              queue.path("stopPolicy").asText("NONE").equals("NONE")
                  ? null
                  : text(queue, "stopPolicy")));
    }
    return views;
  }

  private static @Nullable String text(JsonNode queue, String field) {
    return queue.hasNonNull(field) ? queue.path(field).asText() : null;
  }

  private static @Nullable Double decimal(JsonNode queue, String field) {
    return queue.hasNonNull(field) ? queue.path(field).asDouble() : null;
  }

  private static @Nullable Integer number(JsonNode queue, String field) {
    return queue.hasNonNull(field) ? queue.path(field).asInt() : null;
  }

  /** What the jobs alone tell. */
  static List<QueueView> of(List<TrainingJob> jobs) {
    Map<String, QueueView> queues = new TreeMap<>();
    for (TrainingJob job : jobs) {
      JobView view = JobView.of(job);
      if (!view.ended() && !job.getSpec().suspended()) {
        boolean runs = view.replicas() > 0;
        String name = view.queue() == null ? "" : view.queue();
        queues.merge(
            name,
            new QueueView(
                name,
                null,
                runs ? 1 : 0,
                runs ? 0 : 1,
                view.slots(),
                view.maxReplicas() * view.slotsPerReplica(),
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null),
            QueueView::plus);
      }
    }
    return List.copyOf(queues.values());
  }

  private QueueView plus(QueueView other) {
    return new QueueView(
        name,
        weight,
        running + other.running,
        waiting + other.waiting,
        slotsHeld + other.slotsHeld,
        slotsWanted + other.slotsWanted,
        deserved,
        obtained,
        cohort,
        quota,
        borrowingLimit,
        lendingLimit,
        borrowed,
        lent,
        budget,
        budgetPeriod,
        budgetUsed,
        budgetUntil,
        stopPolicy);
  }

  List<String> cells() {
    return List.of(
        (name.isEmpty() ? "(none)" : name) + stopped(),
        cohort == null ? "-" : cohort,
        Format.number(weight),
        Integer.toString(running),
        Integer.toString(waiting),
        Integer.toString(slotsHeld),
        count(quota),
        quota == null ? "-" : count(borrowed),
        quota == null ? "-" : count(lent),
        Integer.toString(slotsWanted),
        percent(deserved),
        percent(obtained),
        spent());
  }

  private String spent() {
    return budget == null || budgetUsed == null
        ? "-"
        : "%.1f of %s/%s".formatted(budgetUsed, plain(budget), budgetPeriod);
  }

  private static String plain(double hours) {
    return hours == Math.rint(hours) ? Long.toString(Math.round(hours)) : Double.toString(hours);
  }

  private String stopped() {
    if (budget != null && budgetUsed != null && budgetUsed >= budget && stopPolicy != null) {
      return " (budget spent)";
    }
    return switch (stopPolicy) {
      case "HOLD" -> " (held)";
      case "HOLD_AND_DRAIN" -> " (drained)";
      case null, default -> "";
    };
  }

  private static String count(@Nullable Integer gpus) {
    return gpus == null ? "-" : gpus.toString();
  }

  private static String percent(@Nullable Double share) {
    return share == null ? "-" : Math.round(100 * share) + "%";
  }
}
