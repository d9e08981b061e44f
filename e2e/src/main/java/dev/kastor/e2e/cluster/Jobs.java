package dev.kastor.e2e.cluster;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.TrainingStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The TrainingJobs of a namespace as one who may read it sees them. */
public record Jobs(KubernetesClient client, String namespace) {

  public TrainingJob get(String name) {
    TrainingJob job = resource(name).get();
    if (job == null) {
      throw new AssertionError("there is no TrainingJob %s/%s".formatted(namespace, name));
    }
    return job;
  }

  /** What the operator reports; empty before its first word. */
  public Optional<TrainingJobStatus> status(String name) {
    return Optional.ofNullable(get(name).getStatus());
  }

  public boolean in(TrainingJobStatus.Phase phase, String name) {
    return status(name).map(TrainingJobStatus::phase).filter(phase::equals).isPresent();
  }

  public Optional<TrainingStatus> training(String name) {
    return status(name).map(TrainingJobStatus::training);
  }

  public long step(String name) {
    return training(name).map(TrainingStatus::step).orElse(0L);
  }

  public int allocated(String name) {
    return allocation(name).map(AllocationStatus::replicas).orElse(0);
  }

  /** Where its replicas are or are meant to be. */
  public Set<String> nodes(String name) {
    return allocation(name).map(AllocationStatus::nodes).map(Map::keySet).orElse(Set.of());
  }

  /** Which decision is in force. */
  public long version(String name) {
    return allocation(name).map(AllocationStatus::version).orElse(0L);
  }

  /** When it was made. */
  public Instant since(String name) {
    return allocation(name)
        .map(allocation -> Instant.parse(allocation.since()))
        .orElse(Instant.EPOCH);
  }

  private Optional<AllocationStatus> allocation(String name) {
    return status(name).map(TrainingJobStatus::allocation);
  }

  /** Pods of the job that run, the oldest first. */
  public List<Pod> running(String name) {
    return pods(name).stream()
        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
        .filter(pod -> "Running".equals(pod.getStatus().getPhase()))
        .sorted(Comparator.comparing(pod -> pod.getMetadata().getCreationTimestamp()))
        .toList();
  }

  /** Pods of all jobs. */
  public List<Pod> pods() {
    return client.pods().inNamespace(namespace).withLabel("kastor.dev/job").list().getItems();
  }

  public List<Pod> pods(String name) {
    return client.pods().inNamespace(namespace).withLabel("kastor.dev/job", name).list().getItems();
  }

  /** Holds the job to one size. */
  public void pin(String name, int replicas) {
    resource(name)
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"spec\":{\"elastic\":{\"minReplicas\":%d,\"maxReplicas\":%d}}}"
                .formatted(replicas, replicas));
  }

  /** One line about each job and its pods, for whoever has to find out what went wrong. */
  public String describe() {
    StringBuilder text = new StringBuilder();
    // Not by label: a job whose name cannot be one must be told of as well.
    List<Pod> all = pods();
    for (TrainingJob job :
        client.resources(TrainingJob.class).inNamespace(namespace).list().getItems()) {
      String name = job.getMetadata().getName();
      text.append("%n  %s: %s".formatted(name, summary(job.getStatus())));
      for (Pod pod : all) {
        if (name.equals(pod.getMetadata().getLabels().get("kastor.dev/job"))) {
          text.append(
              "%n    %s %s".formatted(pod.getMetadata().getName(), pod.getStatus().getPhase()));
        }
      }
    }
    return text.toString();
  }

  private static String summary(@Nullable TrainingJobStatus status) {
    if (status == null) {
      return "nothing reported";
    }
    String conditions =
        status.conditions() == null
            ? ""
            : status.conditions().stream()
                .filter(condition -> !condition.getMessage().isEmpty())
                .map(condition -> condition.getReason() + ": " + condition.getMessage())
                .collect(Collectors.joining("; "));
    return "%s. %s %s".formatted(status.phase(), conditions, status.training());
  }

  private Resource<TrainingJob> resource(String name) {
    return client.resources(TrainingJob.class).inNamespace(namespace).withName(name);
  }
}
