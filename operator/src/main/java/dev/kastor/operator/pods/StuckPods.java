package dev.kastor.operator.pods;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.kube.JobRecords;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;

/** Pods whose containers no time starts, once that has been so for a while. */
@Singleton
public final class StuckPods {
  /** What may be mended while a pod starts, such as a Secret that comes with it. */
  public static final Duration PATIENCE = Duration.ofSeconds(40);

  private final JobPods pods;
  private final InstantSource clock;
  private final Map<String, Map<String, Instant>> since;

  public StuckPods(JobRecords records, JobPods pods, InstantSource clock) {
    since = records.part();
    this.pods = pods;
    this.clock = clock;
  }

  /** Those that have been stuck for {@link #PATIENCE}, with what the kubelet says of each. */
  public Map<PodView, String> of(TrainingJob job) {
    Map<PodView, String> stuck = pods.stuck(job);
    String uid = job.getMetadata().getUid();
    if (stuck.isEmpty()) {
      since.remove(uid);
      return stuck;
    }
    Instant now = clock.instant();
    Map<String, Instant> before = since.getOrDefault(uid, Map.of());
    Map<String, Instant> seen = new HashMap<>();
    Map<PodView, String> lasting = new HashMap<>();
    stuck.forEach((pod, words) -> {
      Instant first = before.getOrDefault(pod.name(), now);
      seen.put(pod.name(), first);
      if (!now.isBefore(first.plus(PATIENCE))) {
        lasting.put(pod, words);
      }
    });
    since.put(uid, seen);
    return lasting;
  }
}
