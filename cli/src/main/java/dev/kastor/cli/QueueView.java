package dev.kastor.cli;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import dev.kastor.crds.TrainingJob;
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
    @Nullable Double obtained) {
  static final String[] HEADER = {
    "QUEUE", "WEIGHT", "RUNNING", "WAITING", "GPUS", "WANTED", "DESERVED", "OBTAINED"
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
              total > 0 ? queue.path("slotsHeld").asDouble() / total : 0));
    }
    return views;
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
                view.replicas(),
                view.maxReplicas(),
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
        obtained);
  }

  List<String> cells() {
    return List.of(
        name.isEmpty() ? "(none)" : name,
        Format.number(weight),
        Integer.toString(running),
        Integer.toString(waiting),
        Integer.toString(slotsHeld),
        Integer.toString(slotsWanted),
        percent(deserved),
        percent(obtained));
  }

  private static String percent(@Nullable Double share) {
    return share == null ? "-" : Math.round(100 * share) + "%";
  }
}
