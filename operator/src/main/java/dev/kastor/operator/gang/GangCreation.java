package dev.kastor.operator.gang;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.kube.PodNumbers;
import dev.kastor.operator.kube.Refusal;
import dev.kastor.operator.kube.SlotCount;
import dev.kastor.operator.kube.SlotWaiters;
import dev.kastor.operator.kube.StatusWriter;
import dev.kastor.operator.pods.GangPlan;
import dev.kastor.operator.pods.GangPod;
import dev.kastor.operator.pods.GangTemplate;
import dev.kastor.operator.pods.Gates;
import dev.kastor.operator.pods.InvalidTemplate;
import dev.kastor.operator.pods.JobPods;
import dev.kastor.operator.pods.NamedObjects;
import dev.kastor.operator.pods.PodNode;
import dev.kastor.operator.pods.PodView;
import dev.kastor.operator.pods.ProfileStore;
import dev.kastor.operator.pods.SlotClaims;
import dev.kastor.scheduler.model.Allocation;
import io.fabric8.kubernetes.api.model.Pod;
import jakarta.inject.Singleton;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Creation of the pods of gangs: all that are missing or none. */
@Singleton
final class GangCreation {
  private final ClusterCache cache;
  private final JobPods pods;
  private final SlotWaiters waiters;
  private final PodNumbers numbers;
  private final NamedObjects named;
  private final ProfileStore profiles;
  private final StatusWriter writer;
  private final GangTemplate template;

  GangCreation(
      ClusterCache cache,
      JobPods pods,
      SlotWaiters waiters,
      PodNumbers numbers,
      NamedObjects named,
      ProfileStore profiles,
      StatusWriter writer,
      OperatorConfig config) {
    this.cache = cache;
    this.pods = pods;
    this.waiters = waiters;
    this.numbers = numbers;
    this.named = named;
    this.profiles = profiles;
    this.writer = writer;
    template = new GangTemplate(config);
  }

  /**
   * Makes the missing pods of a gang if all of them have their slots.
   *
   * @throws InvalidTemplate if no pods can be made of the template
   * @throws Refusal if the API server does not take one of them; others may have been made
   */
  void create(TrainingJob job, List<GangPod> gang, GangPlan.Create create, Allocation target)
      throws InvalidTemplate {
    List<String> nodes = nodes(target);
    Map<String, Integer> wanted = new TreeMap<>();
    create.ranks().forEach(rank -> wanted.merge(nodes.get(rank), 1, Integer::sum));
    // Before the look, so that a slot that gets free meanwhile is heard of.
    waiters.wait(Labels.id(job), wanted.keySet());
    try (SlotClaims.Claim claim = pods.claim(job, wanted, SlotCount::usable)) {
      Optional<ProfileStore.Applied> profile = profiles.of(job);
      if (!claim.whole() || profile.isEmpty()) {
        return;
      }
      List<PodNode> places =
          create.ranks().stream()
              .flatMap(rank -> cache.node(nodes.get(rank)).map(PodNode::of).stream())
              .toList();
      if (places.size() < create.ranks().size()) {
        return;
      }
      int size = target.replicas();
      // Made before a number is taken: a template that is no good must not cost one each time.
      template.pod(job, profile.get().spec(), 0, 0, size, places.getFirst());
      if (!named.ensure(job)) {
        return;
      }
      long first =
          create.first().isPresent()
              ? create.first().get()
              : numbers.reserve(job, PodView.free(gang.stream().map(GangPod::view).toList()), size);
      if (create.first().isEmpty()) {
        countRestart(job);
      }
      waiters.done(Labels.id(job), wanted.keySet());
      for (int i = 0; i < places.size(); i++) {
        int rank = create.ranks().get(i);
        Pod pod = template.pod(job, profile.get().spec(), first, rank, size, places.get(i));
        if (size > 1) {
          Gates.close(pod);
        }
        try {
          pods.create(pod);
        } catch (Refusal e) {
          if (create.first().isEmpty()) {
            numbers.giveBack(job, first + rank);
          }
          throw e;
        }
      }
    }
  }

  /** The node of each rank, by name. */
  private static List<String> nodes(Allocation target) {
    List<String> nodes = new ArrayList<>();
    new TreeMap<>(target.replicasByNode())
        .forEach((name, count) -> nodes.addAll(Collections.nCopies(count, name)));
    return nodes;
  }

  private void countRestart(TrainingJob job) {
    TrainingJobStatus status = job.getStatus();
    if (status != null && status.startTime() != null) {
      Integer before = status.restarts();
      writer.patch(job, Map.of("restarts", (before == null ? 0 : before) + 1));
    }
  }
}
