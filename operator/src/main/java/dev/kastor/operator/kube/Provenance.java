package dev.kastor.operator.kube;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.scheduler.model.JobId;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.OwnerReference;
import jakarta.inject.Singleton;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Provenance of pods: which of them the operator made, and for which job.
 *
 * <p>Labels, annotations and owners are written by whoever makes a pod, so nothing that a pod says
 * of itself counts before the job is known, is the very one that owns the pod, and was given the
 * pod's number. Whoever may make pods in a job's namespace can still make one that passes for the
 * job's: what such a pod can claim ends at what the job was given.
 */
@Singleton
public final class Provenance {
  private static final String KIND = HasMetadata.getKind(TrainingJob.class);
  private static final String GROUP = HasMetadata.getGroup(TrainingJob.class) + "/";

  /**
   * Claim of a pod about itself, which may be a lie.
   *
   * @param job that it belongs to
   * @param uid of that job
   * @param number that it has among the pods of the job
   * @param server index of a parameter server; empty of a replica
   */
  public record Claim(JobId job, String uid, long number, OptionalInt server) {}

  private final PodNumbers numbers;

  public Provenance(PodNumbers numbers) {
    this.numbers = numbers;
  }

  /** The claim of a pod; empty if it does not say that a job's controller made it. */
  public static Optional<Claim> claim(HasMetadata pod) {
    String name = pod.getMetadata().getName();
    return Labels.job(pod)
        .flatMap(job -> controller(pod, job).flatMap(owner -> claim(name, job, owner.getUid())));
  }

  /** Whether the object says that it was made for this job, or for an earlier one of its name. */
  public static boolean claims(HasMetadata object, JobId job) {
    return Labels.job(object).filter(job::equals).isPresent()
        && controller(object, job).isPresent();
  }

  /** Whether the operator made the pod for this very job. */
  boolean made(TrainingJob job, Claim claim) {
    return claim.uid().equals(job.getMetadata().getUid())
        && claim.job().equals(Labels.id(job))
        && claim.number() < numbers.next(job)
        && (claim.server().isEmpty() || claim.server().getAsInt() < JobServers.count(job));
  }

  private static Optional<OwnerReference> controller(HasMetadata object, JobId job) {
    return object.getMetadata().getOwnerReferences().stream()
        .filter(owner -> Boolean.TRUE.equals(owner.getController()))
        .filter(owner -> KIND.equals(owner.getKind()))
        .filter(owner -> owner.getApiVersion().startsWith(GROUP))
        .filter(owner -> job.name().equals(owner.getName()))
        .findFirst();
  }

  private static Optional<Claim> claim(String name, JobId job, String uid) {
    return PodName.of(name)
        .filter(parts -> parts.job().equals(job.name()))
        .map(parts -> new Claim(job, uid, parts.number(), parts.server()));
  }
}
