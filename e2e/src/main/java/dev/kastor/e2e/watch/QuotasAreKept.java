package dev.kastor.e2e.watch;

import dev.kastor.crds.queue.Queue;
import dev.kastor.crds.queue.QueueSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The jobs of a queue are never given more GPUs than it may hold, nor do their pods stay to hold
 * more.
 *
 * <p>Decisions on several jobs are written one after the other, and replicas that go may take their
 * grace period, so both are borne for a moment.
 */
final class QuotasAreKept implements Rule {
  private static final Duration DECIDING = Duration.ofSeconds(3);
  private static final Duration LEAVING = Duration.ofSeconds(30);

  private final Map<String, Instant> since = new HashMap<>();

  @Override
  public List<Finding> broken(World world) {
    Map<String, Integer> given = new HashMap<>();
    Map<String, Integer> held = new HashMap<>();
    for (TrainingJob job : world.jobs().values()) {
      String queue = job.getSpec().queue();
      var allocation = job.getStatus() == null ? null : job.getStatus().allocation();
      if (queue != null && allocation != null) {
        given.merge(queue, allocation.slots(), Integer::sum);
      }
    }
    for (Pod pod : world.jobPods()) {
      TrainingJob job = world.jobs().get(Pods.owner(pod).orElseThrow());
      String queue = job == null ? null : job.getSpec().queue();
      // One that waits to be scheduled holds nothing, whoever made it.
      if (queue != null
          && pod.getSpec().getNodeName() != null
          && !Pods.ended(pod)
          && pod.getMetadata().getDeletionTimestamp() == null) {
        held.merge(queue, Pods.gpus(pod), Integer::sum);
      }
    }
    List<Finding> findings = new ArrayList<>();
    for (Queue queue : world.queues().values()) {
      String name = queue.getMetadata().getName();
      long limit = limit(queue.getSpec());
      check(name, "is given", given.getOrDefault(name, 0), limit, DECIDING, world.now())
          .ifPresent(findings::add);
      check(name, "holds", held.getOrDefault(name, 0), limit, LEAVING, world.now())
          .ifPresent(findings::add);
    }
    return findings;
  }

  private Optional<Finding> check(
      String queue, String does, int gpus, long limit, Duration patience, Instant now) {
    String key = queue + " " + does;
    if (gpus <= limit) {
      since.remove(key);
      return Optional.empty();
    }
    Instant begun = since.computeIfAbsent(key, ignored -> now);
    return begun.plus(patience).isAfter(now)
        ? Optional.empty()
        : Optional.of(
            new Finding(
                "quotas are kept",
                key,
                "%d GPUs of at most %d since %s".formatted(gpus, limit, begun)));
  }

  /** The most GPUs that a queue may ever hold. */
  private static long limit(@Nullable QueueSpec spec) {
    if (spec == null || spec.quota() == null) {
      return Long.MAX_VALUE;
    }
    QueueSpec.QuotaSpec quota = spec.quota();
    Integer borrowed = quota.borrowingLimit();
    if (spec.cohort() == null) {
      return quota.gpus();
    }
    return borrowed == null ? Long.MAX_VALUE : quota.gpus() + (long) borrowed;
  }
}
