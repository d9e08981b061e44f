package dev.kastor.operator.reconcile;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.EventRecorder;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.kube.PodNumbers;
import dev.kastor.operator.kube.Refusal;
import dev.kastor.operator.kube.SlotWaiters;
import dev.kastor.operator.nodes.NodeUses;
import dev.kastor.operator.pods.Gates;
import dev.kastor.operator.pods.InvalidTemplate;
import dev.kastor.operator.pods.JobPods;
import dev.kastor.operator.pods.NamedObjects;
import dev.kastor.operator.pods.PodNode;
import dev.kastor.operator.pods.PodPlan;
import dev.kastor.operator.pods.PodTemplate;
import dev.kastor.operator.pods.PodView;
import dev.kastor.operator.pods.ProfileStore;
import dev.kastor.operator.pods.SlotClaims;
import dev.kastor.operator.pods.WarmStartSource;
import dev.kastor.operator.status.JobReason;
import dev.kastor.scheduler.model.JobId;
import io.fabric8.kubernetes.api.model.Pod;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Creation of replicas' pods where their slots are free. */
@Singleton
final class PodCreation {
  private final ClusterCache cache;
  private final JobPods pods;
  private final SlotWaiters waiters;
  private final NamedObjects named;
  private final PodNumbers numbers;
  private final ProfileStore profiles;
  private final PodDepartures departures;
  private final NodeUses uses;
  private final EventRecorder events;
  private final PodTemplate template;

  PodCreation(
      ClusterCache cache,
      JobPods pods,
      SlotWaiters waiters,
      NamedObjects named,
      PodNumbers numbers,
      ProfileStore profiles,
      PodDepartures departures,
      NodeUses uses,
      EventRecorder events,
      OperatorConfig config) {
    this.cache = cache;
    this.pods = pods;
    this.waiters = waiters;
    this.named = named;
    this.numbers = numbers;
    this.profiles = profiles;
    this.departures = departures;
    this.uses = uses;
    this.events = events;
    template = new PodTemplate(config);
  }

  /**
   * Makes missing pods where slots are free; true if all could be made.
   *
   * @throws InvalidTemplate if no pods can be made of the job's template
   * @throws Refusal if the API server does not take one of them; others may have been made
   */
  boolean fill(TrainingJob job, List<PodView> views, PodPlan plan, @Nullable Integer atMost)
      throws InvalidTemplate {
    int held = (int) views.stream().filter(pod -> !pod.ended() && !departures.lost(pod)).count();
    Map<String, Integer> allowed =
        atMost == null ? plan.missing() : PodPlan.first(atMost - held, plan.missing());
    // Before the look, so that a slot that gets free meanwhile is heard of.
    waiters.wait(Labels.id(job), plan.missing().keySet());
    try (SlotClaims.Claim claim = pods.claim(job, allowed, uses::open)) {
      Set<String> gated = pods.gated(job);
      List<PodView> live = views.stream().filter(PodView::live).toList();
      boolean whole = claim.whole() && allowed.equals(plan.missing());
      // A gang takes its slots together: half of one would hold slots and do nothing.
      if (claim.total() == 0 || (live.isEmpty() && !whole)) {
        return false;
      }
      Optional<ProfileStore.Applied> profile = profiles.of(job);
      if (profile.isEmpty()) {
        events.warning(
            job,
            JobReason.ProfileNotFound.name(),
            "No more pods can be made: there is no ClusterTrainingProfile %s any more."
                .formatted(job.getSpec().profile()));
        return false;
      }
      if (!named.ensure(job)) {
        return false;
      }
      // Who joins a job that runs waits for nobody, and one alone has nobody to wait for.
      boolean gang =
          live.size() + claim.total() > 1
              && live.stream().allMatch(pod -> gated.contains(pod.name()));
      long number = reserve(job, views, claim.total());
      Optional<WarmStartSource> other = warmStart(job);
      for (var entry : claim.replicas().entrySet()) {
        Optional<PodNode> node = cache.node(entry.getKey()).map(PodNode::of);
        for (int i = 0; i < entry.getValue() && node.isPresent(); i++) {
          Pod pod = template.pod(job, profile.get().spec(), other, number, node.get());
          if (gang) {
            Gates.close(pod);
          }
          make(job, number++, () -> pods.create(pod));
        }
      }
      if (whole) {
        waiters.done(Labels.id(job), plan.missing().keySet());
      }
      return whole;
    }
  }

  /**
   * Numbers for so many pods of a job, replicas or servers; the first of them.
   *
   * @param known pods of the job
   */
  long reserve(TrainingJob job, List<PodView> known, int count) {
    return numbers.reserve(job, PodView.free(known), count);
  }

  /** Makes the pod of a number, which others may have if the API server refuses the pod. */
  void make(TrainingJob job, long number, Runnable create) {
    try {
      create.run();
    } catch (Refusal e) {
      numbers.giveBack(job, number);
      throw e;
    }
  }

  /** The job that the spec names for a warm start, which is of the same namespace. */
  Optional<WarmStartSource> warmStart(TrainingJob job) {
    return job.getSpec()
        .warmStart()
        .flatMap(named -> cache.job(new JobId(job.getMetadata().getNamespace(), named.job())))
        .flatMap(
            other -> profiles.of(other).map(profile -> new WarmStartSource(other, profile.spec())));
  }
}
