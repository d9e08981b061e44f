package dev.kastor.operator.lifecycle;

import dev.kastor.crds.trainingjob.LifecycleSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.kube.JobRecords;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.kube.StoredTime;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import jakarta.inject.Singleton;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Deletes jobs whose time after their end is over. */
@Singleton
public final class TimeToLive {
  private static final Logger LOG = LoggerFactory.getLogger(TimeToLive.class);
  private static final Duration SOON = Duration.ofSeconds(1);

  private final KubernetesClient client;
  private final InstantSource clock;
  private final Set<String> deleted;

  public TimeToLive(JobRecords records, KubernetesClient client, InstantSource clock) {
    deleted = records.flags();
    this.client = client;
    this.clock = clock;
  }

  /** Deletes an ended job if it is time; says when to look again, empty for never. */
  public Optional<Duration> apply(TrainingJob job) {
    LifecycleSpec limits = job.getSpec().lifecycle();
    Long seconds = limits == null ? null : limits.ttlSecondsAfterFinished();
    if (seconds == null || deleted.contains(job.getMetadata().getUid())) {
      return Optional.empty();
    }
    String end = job.getStatus() == null ? null : job.getStatus().completionTime();
    if (end == null) {
      // The cache does not show the end yet that we wrote.
      return Optional.of(SOON);
    }
    Instant now = clock.instant();
    // Of an end that cannot be read only that it was before now is known.
    Duration left = Duration.between(now, StoredTime.of(end).orElse(now).plusSeconds(seconds));
    if (left.isPositive()) {
      return Optional.of(left.plusMillis(10));
    }
    return delete(job, seconds) ? Optional.empty() : Optional.of(SOON);
  }

  /** Only what we looked at is deleted: neither a changed job nor another of the same name. */
  private boolean delete(TrainingJob job, long seconds) {
    try {
      client
          .resources(TrainingJob.class)
          .inNamespace(job.getMetadata().getNamespace())
          .resource(job)
          .lockResourceVersion(job.getMetadata().getResourceVersion())
          .delete();
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_CONFLICT) {
        return false;
      }
      throw e;
    }
    deleted.add(job.getMetadata().getUid());
    LOG.info("{}: deleted, {} s after its end", Labels.id(job), seconds);
    return true;
  }
}
