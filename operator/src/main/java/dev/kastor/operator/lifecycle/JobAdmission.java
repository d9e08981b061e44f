package dev.kastor.operator.lifecycle;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.kube.NamespaceQuotas;
import dev.kastor.operator.pods.NamedObjects;
import dev.kastor.operator.pods.NodeFit;
import dev.kastor.operator.pods.PodCheck;
import dev.kastor.operator.pods.ProfileStore;
import dev.kastor.operator.status.Hold;
import dev.kastor.operator.status.JobReason;
import dev.kastor.operator.status.JobStatusWriter;
import jakarta.inject.Singleton;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;

/** Whether a job that has nothing may be given slots; one that may not never reaches a policy. */
@Singleton
public final class JobAdmission {
  private final JobStatusWriter statuses;
  private final ProfileStore profiles;
  private final PodCheck check;
  private final NodeFit fit;
  private final NamedObjects named;
  private final NamespaceQuotas quotas;

  public JobAdmission(
      JobStatusWriter statuses,
      ProfileStore profiles,
      PodCheck check,
      NodeFit fit,
      NamedObjects named,
      NamespaceQuotas quotas) {
    this.quotas = quotas;
    this.fit = fit;
    this.named = named;
    this.statuses = statuses;
    this.profiles = profiles;
    this.check = check;
  }

  /** Whether the job has to wait for something else than slots. */
  public boolean held(TrainingJob job, Instant now) {
    return KueueHold.due(job)
        || statuses.notBefore(job).filter(now::isBefore).isPresent()
        || hold(job).isPresent()
        || waitsForQuota(job).isPresent();
  }

  /** The quota of the namespace for which a job that holds nothing waits. */
  public Optional<Hold> waitsForQuota(TrainingJob job) {
    String namespace = job.getMetadata().getNamespace();
    if (!quotas.any(namespace)) {
      return Optional.empty();
    }
    int least = PodCheck.least(job);
    return quotas
        .full(namespace, least, job.getSpec().slotsPerReplica())
        .map(words ->
            new Hold(
                JobReason.NamespaceQuotaFull,
                "%s; the job needs %d replicas at least.".formatted(words, least)));
  }

  /** Notes that the job trains with all the replicas that it was to have. */
  public void trains(TrainingJob job, int replicas) {
    check.trains(job, replicas);
  }

  /** Whether the API server refused pods of the job and has to be asked before it gets more. */
  public boolean bounded(TrainingJob job) {
    return check.bounded(job);
  }

  /**
   * What a person should know of a job that has fewer pods than it could have because the API
   * server takes no more; empty if nothing is known to be in the way.
   */
  public Optional<String> refusal(TrainingJob job) {
    return check.refusal(job).or(() -> mostByQuota(job));
  }

  private Optional<String> mostByQuota(TrainingJob job) {
    String namespace = job.getMetadata().getNamespace();
    if (!quotas.any(namespace)) {
      return Optional.empty();
    }
    int most = PodCheck.most(job);
    return quotas
        .tooSmall(namespace, most, job.getSpec().slotsPerReplica())
        .map(words -> "%s; the job could have up to %d replicas.".formatted(words, most));
  }

  /** What the job waits for before it can wait for slots. */
  public Optional<Hold> hold(TrainingJob job) {
    Optional<Hold> taken = named.hold(job);
    if (taken.isPresent()) {
      return taken;
    }
    Optional<ProfileStore.Applied> profile = profiles.of(job);
    if (profile.isEmpty()) {
      return Optional.of(withoutProfile(job));
    }
    if (fit.types(job).filter(Set::isEmpty).isPresent()) {
      return Optional.of(
          new Hold(
              JobReason.NoSuitableNodes,
              "There is no GPU type of which every node has the labels %s."
                  .formatted(fit.selector(job))));
    }
    Optional<PodCheck.Verdict> verdict = check.known(job, profile.get());
    if (verdict.isEmpty()) {
      return Optional.of(
          new Hold(JobReason.NotChecked, "The API server has not been asked about the pods yet."));
    }
    return switch (verdict.get()) {
      case PodCheck.Verdict.Good good -> Optional.empty();
      case PodCheck.Verdict.Bad bad ->
          Optional.of(new Hold(JobReason.InvalidTemplate, bad.message()));
      case PodCheck.Verdict.NotNow notNow ->
          Optional.of(new Hold(JobReason.PodsRefused, notNow.message()));
    };
  }

  private Hold withoutProfile(TrainingJob job) {
    String name = String.valueOf(job.getSpec().profile());
    return profiles.exists(name)
        ? new Hold(
            JobReason.ProfileNotAllowed,
            "spec.profile is %s, but that ClusterTrainingProfile does not list namespace %s. Submit the job with another, or add the namespace to spec.namespaces of the profile."
                .formatted(name, job.getMetadata().getNamespace()))
        : new Hold(
            JobReason.ProfileNotFound,
            "spec.profile: there is no ClusterTrainingProfile %s. Ask the platform team for it or submit the job with another."
                .formatted(name));
  }

  /** Asks the API server about the job's pods if that is due; the message if they never can be. */
  public Optional<String> ask(TrainingJob job) {
    named.tryAgain(job);
    return profiles
        .of(job)
        .flatMap(profile ->
            check.check(job, profile) instanceof PodCheck.Verdict.Bad bad
                ? Optional.of(bad.message())
                : Optional.empty());
  }
}
