package dev.kastor.cli.doctor;

import dev.kastor.cli.connect.Cluster;
import dev.kastor.cli.connect.OperatorPods;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Whether jobs have something to run on, and their pods come up. */
final class WorkChecks {
  private static final Set<String> BAD_IMAGE =
      Set.of(
          "ImagePullBackOff",
          "ErrImagePull",
          "InvalidImageName",
          "ErrImageNeverPull",
          "CreateContainerConfigError",
          "CreateContainerError");
  private static final String MANAGED_BY = "app.kubernetes.io/managed-by";

  private final Cluster cluster;

  WorkChecks(Cluster cluster) {
    this.cluster = cluster;
  }

  Check gpus() {
    String resource = "kastor.dev/slot";
    for (Pod pod : OperatorPods.of(cluster)) {
      String set = OperatorChecks.environment(pod).get("KASTOR_SLOT_RESOURCE");
      resource = set == null || set.isEmpty() ? resource : set;
    }
    return gpus(cluster.client().nodes().list().getItems(), resource);
  }

  static Check gpus(List<Node> nodes, String resource) {
    int slots = 0;
    int withSlots = 0;
    int usable = 0;
    Map<String, Integer> others = new TreeMap<>();
    for (Node node : nodes) {
      Map<String, Quantity> allocatable = node.getStatus().getAllocatable();
      int here = amount(allocatable, resource);
      withSlots += here > 0 ? 1 : 0;
      if (ready(node)) {
        slots += here;
        usable += here > 0 ? 1 : 0;
      }
      if (allocatable != null) {
        allocatable.keySet().stream()
            .filter(name -> name.endsWith("/gpu"))
            .forEach(name -> others.merge(name, 1, Integer::sum));
      }
    }
    if (withSlots == 0) {
      return Check.fail(
          "gpus",
          "none of %d nodes has the resource %s%s"
              .formatted(
                  nodes.size(),
                  resource,
                  others.isEmpty() ? "" : ", but there is " + String.join(", ", others.keySet())),
          others.isEmpty()
              ? "Install the device plugin of your GPUs"
              : "Set slotResource of the chart to it");
    }
    String found = "%d of %s on %d of %d nodes".formatted(slots, resource, usable, nodes.size());
    return usable < withSlots
        ? Check.warn(
            "gpus",
            "%s; %d more are not ready or cordoned".formatted(found, withSlots - usable),
            "See: kubectl get nodes")
        : Check.ok("gpus", found);
  }

  private static boolean ready(Node node) {
    boolean cordoned =
        node.getSpec() != null && Boolean.TRUE.equals(node.getSpec().getUnschedulable());
    return !cordoned
        && (node.getStatus().getConditions() == null
            || node.getStatus().getConditions().stream()
                .noneMatch(c -> "Ready".equals(c.getType()) && !"True".equals(c.getStatus())));
  }

  private static int amount(@Nullable Map<String, Quantity> amounts, String resource) {
    Quantity amount = amounts == null ? null : amounts.get(resource);
    return amount == null ? 0 : amount.getNumericalAmount().intValue();
  }

  /** Conditions of jobs: checkpoints that cannot be saved, and pods that the API server refuses. */
  List<Check> jobs() {
    List<TrainingJob> jobs =
        cluster.client().resources(TrainingJob.class).inAnyNamespace().list().getItems();
    return List.of(checkpoints(jobs), refusals(jobs));
  }

  /** Jobs that train and would lose what they did since their newest checkpoint. */
  static Check checkpoints(List<TrainingJob> jobs) {
    return told(jobs, "Unsaved")
        .map(told ->
            Check.fail(
                "checkpoints",
                "%s cannot save them, among them %s".formatted(told.count(), told.first()),
                "Make room where checkpoints are, or mend the rights on that folder: the next one is tried by itself"))
        .orElseGet(() ->
            Check.ok("checkpoints", "no job of %d fails to save them".formatted(jobs.size())));
  }

  /** Jobs that have fewer pods than they could have, as the API server takes no more. */
  static Check refusals(List<TrainingJob> jobs) {
    return told(jobs, "PodsRefused")
        .map(told ->
            Check.warn(
                "refusals",
                "%s get fewer pods than they could have, among them %s"
                    .formatted(told.count(), told.first()),
                "Change what the message names, such as a ResourceQuota or a webhook, or lower the jobs' replicas"))
        .orElseGet(
            () -> Check.ok("refusals", "of %d jobs no pod is refused".formatted(jobs.size())));
  }

  /** Number of jobs that a condition holds for, and its message of the first. */
  private record Told(String count, String first) {}

  private static Optional<Told> told(List<TrainingJob> jobs, String type) {
    List<TrainingJob> concerned =
        jobs.stream().filter(job -> holds(job, type).isPresent()).toList();
    if (concerned.isEmpty()) {
      return Optional.empty();
    }
    TrainingJob first = concerned.getFirst();
    return Optional.of(
        new Told(
            "%d of %d jobs".formatted(concerned.size(), jobs.size()),
            "%s/%s: %s"
                .formatted(
                    first.getMetadata().getNamespace(),
                    first.getMetadata().getName(),
                    holds(first, type).orElseThrow().getMessage())));
  }

  private static Optional<Condition> holds(TrainingJob job, String type) {
    TrainingJobStatus status = job.getStatus();
    boolean over =
        status != null && (status.phase() == Phase.Succeeded || status.phase() == Phase.Failed);
    return status == null || status.conditions() == null || over
        ? Optional.empty()
        : status.conditions().stream()
            .filter(condition -> type.equals(condition.getType()))
            .filter(condition -> "True".equals(condition.getStatus()))
            .findFirst();
  }

  Check images() {
    return images(
        cluster.client().pods().inAnyNamespace().withLabel(MANAGED_BY, "kastor").list().getItems());
  }

  static Check images(List<Pod> pods) {
    for (Pod pod : pods) {
      if (pod.getStatus() == null || pod.getStatus().getContainerStatuses() == null) {
        continue;
      }
      for (var container : pod.getStatus().getContainerStatuses()) {
        var waiting = container.getState() == null ? null : container.getState().getWaiting();
        if (waiting != null && BAD_IMAGE.contains(String.valueOf(waiting.getReason()))) {
          return Check.fail(
              "images",
              "pod %s/%s: %s: %s"
                  .formatted(
                      pod.getMetadata().getNamespace(),
                      pod.getMetadata().getName(),
                      waiting.getReason(),
                      waiting.getMessage() == null ? container.getImage() : waiting.getMessage()),
              "Set image.agent of the chart to an image that the nodes can pull, with"
                  + " agents.imagePullSecrets if the registry asks for a password; the Secrets must"
                  + " be in the pod's namespace");
        }
      }
    }
    return Check.ok("images", "no pod of %d waits for its image".formatted(pods.size()));
  }
}
