package dev.kastor.operator.pods;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.kube.EventRecorder;
import dev.kastor.operator.kube.JobRecords;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.kube.Refusal;
import dev.kastor.operator.status.Hold;
import io.fabric8.kubernetes.client.KubernetesClientException;
import jakarta.inject.Singleton;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Objects that the pods of a job need and whose names follow from the job's: its Secret and the
 * Service of its gang. Somebody else's object of that name stays as it is, and the job waits until
 * the name is free.
 */
@Singleton
public final class NamedObjects {
  private record Taken(Hold hold, Instant at) {}

  private static final Logger LOG = LoggerFactory.getLogger(NamedObjects.class);

  private final JobObjects secrets;
  private final GangService services;
  private final EventRecorder events;
  private final InstantSource clock;
  private final Map<String, Taken> taken;

  public NamedObjects(
      JobRecords records,
      JobObjects secrets,
      GangService services,
      EventRecorder events,
      InstantSource clock) {
    taken = records.part();
    this.secrets = secrets;
    this.services = services;
    this.events = events;
    this.clock = clock;
  }

  /**
   * Makes what is missing or out of date; call before pods are made, and while there are any.
   *
   * @return whether all is there; else {@link #hold} says who is in the way
   * @throws Refusal if the API server does not take one of them
   */
  public boolean ensure(TrainingJob job) {
    String uid = job.getMetadata().getUid();
    Optional<Hold> found;
    try {
      found = inTheWay(job);
    } catch (KubernetesClientException e) {
      // Whoever had the name has it no more, or nobody would have been asked for more than that.
      taken.remove(uid);
      throw Refusal.or(e);
    }
    if (found.isEmpty()) {
      taken.remove(uid);
      return true;
    }
    taken.put(uid, new Taken(found.get(), clock.instant()));
    events.warning(job, found.get().reason().name(), found.get().message());
    return false;
  }

  private Optional<Hold> inTheWay(TrainingJob job) {
    Optional<Hold> found = job.getSpec().gang() ? services.ensure(job) : Optional.empty();
    return found.isEmpty() && hasSecret(job) ? secrets.ensure(job) : found;
  }

  /** Whether nothing is missing or out of date, as far as is known here. */
  public boolean ensured(TrainingJob job) {
    return !hasSecret(job) || secrets.ensured(job);
  }

  /** The object that is in the way of the job; empty if none is, as far as is known. */
  public Optional<Hold> hold(TrainingJob job) {
    return Optional.ofNullable(taken.get(job.getMetadata().getUid())).map(Taken::hold);
  }

  /** Tries again for a job that waits, if the last time is long enough ago. */
  public void tryAgain(TrainingJob job) {
    Taken last = taken.get(job.getMetadata().getUid());
    if (last != null && !clock.instant().isBefore(last.at().plus(PodCheck.AGAIN))) {
      try {
        ensure(job);
      } catch (Refusal e) {
        // Told when the job has slots and its pods are made.
        LOG.debug("{}: {}", Labels.id(job), e.words());
      }
    }
  }

  /** Removes the objects of a job that is gone. */
  public void removed(TrainingJob job) {
    if (hasSecret(job)) {
      secrets.removed(job);
    }
    services.removed(job);
  }

  private static boolean hasSecret(TrainingJob job) {
    return !job.getSpec().gang() || job.getSpec().restartsToRescale();
  }
}
