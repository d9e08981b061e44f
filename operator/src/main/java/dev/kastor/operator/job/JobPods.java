package dev.kastor.operator.job;

import dev.kastor.crds.TrainingJob;
import dev.kastor.operator.OperatorConfig;
import dev.kastor.operator.cluster.ClusterCache;
import dev.kastor.operator.cluster.Labels;
import dev.kastor.operator.cluster.NotSent;
import dev.kastor.operator.cluster.SlotCount;
import dev.kastor.scheduler.JobId;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import jakarta.inject.Singleton;
import java.net.HttpURLConnection;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The pods of jobs, with our own writes that the cache has not seen yet.
 *
 * <p>Without them a second look at a job within milliseconds would make its pods twice.
 */
@Singleton
public final class JobPods {
  private final KubernetesClient client;
  private final ClusterCache cache;
  private final SlotCount slots;
  private final UnseenPods unseen = new UnseenPods();
  private final SlotClaims claims = new SlotClaims();
  private final UnansweredPods unanswered = new UnansweredPods();

  public JobPods(KubernetesClient client, ClusterCache cache, OperatorConfig config) {
    this.client = client;
    this.cache = cache;
    slots = new SlotCount(config.slotResource());
  }

  /** The pods that belong to this very job. */
  public List<PodView> of(TrainingJob job) {
    return PodView.of(all(job));
  }

  /** The same as parts of a gang. */
  public List<GangPod> gang(TrainingJob job) {
    return all(job).stream().map(GangPod::of).toList();
  }

  /** Names of those that wait for others to be made. */
  public Set<String> gated(TrainingJob job) {
    return all(job).stream()
        .filter(Gates::closed)
        .map(pod -> pod.getMetadata().getName())
        .collect(Collectors.toSet());
  }

  /** Pods that no node has taken since before that, with what kube-scheduler says of each. */
  public Map<PodView, String> unscheduledBefore(TrainingJob job, Instant then) {
    return all(job).stream()
        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
        .filter(pod -> PodTrouble.unschedulableSince(pod).filter(then::isAfter).isPresent())
        .collect(Collectors.toMap(PodView::of, pod -> PodTrouble.of(pod).orElse("")));
  }

  private List<Pod> all(TrainingJob job) {
    String uid = job.getMetadata().getUid();
    JobId id = Labels.id(job);
    List<Pod> pods = unseen.of(id, cached(() -> cache.pods(id)));
    return pods.stream().filter(pod -> Labels.ownedBy(pod, uid)).toList();
  }

  /** Why pods of the job do not run yet, in the words of those who start them. */
  public List<String> troubles(TrainingJob job) {
    String uid = job.getMetadata().getUid();
    return cache.pods(Labels.id(job)).stream()
        .filter(pod -> Labels.ownedBy(pod, uid))
        .filter(SlotCount::occupies)
        .flatMap(pod -> PodTrouble.of(pod).stream())
        .sorted()
        .toList();
  }

  /**
   * Free slots for new pods of a job, which nobody else fills until the claim is closed.
   *
   * @param wanted slots by node
   * @param usable nodes that may be used; others have no free slots
   * @throws KubernetesClientException if it cannot be found out what is free
   */
  SlotClaims.Claim claim(TrainingJob job, Map<String, Integer> wanted, Predicate<Node> usable) {
    boolean foundOwn = settle(Labels.id(job), wanted.keySet());
    return claims.claim(
        wanted,
        // Its own pods that are there after all: it has to look again at what it lacks.
        name -> foundOwn ? 0 : cache.node(name).filter(usable).map(this::freeSlots).orElse(0));
  }

  private int freeSlots(Node node) {
    String name = node.getMetadata().getName();
    // Before the others: one that is found meanwhile counts twice for a moment, never not at all.
    List<Pod> holding = new ArrayList<>(unanswered.on(name));
    holding.addAll(unseen.on(name, cached(() -> cache.podsOn(name))));
    return slots.free(node, holding);
  }

  /** Finds out what became of pods on these nodes; true if one of the job is there. */
  private boolean settle(JobId job, Set<String> nodes) {
    List<Pod> there = new ArrayList<>();
    unanswered.settle(
        nodes,
        this::ask,
        pod -> {
          unseen.add(pod);
          there.add(pod);
        });
    return there.stream().anyMatch(pod -> Labels.job(pod).filter(job::equals).isPresent());
  }

  private Optional<Pod> ask(Pod pod) {
    String namespace = pod.getMetadata().getNamespace();
    String name = pod.getMetadata().getName();
    return Optional.ofNullable(client.pods().inNamespace(namespace).withName(name).get())
        .filter(found -> Labels.job(found).isPresent());
  }

  /** Makes a pod; one of that name that is there already is fine. */
  public void create(Pod pod) {
    try {
      unseen.add(
          client.pods().inNamespace(pod.getMetadata().getNamespace()).resource(pod).create());
    } catch (KubernetesClientException e) {
      boolean there = e.getCode() == HttpURLConnection.HTTP_CONFLICT;
      if (there || NotSent.mayBeDone(e)) {
        unanswered.add(pod);
      }
      if (!there) {
        throw e;
      }
    }
  }

  /** Removes a pod; one that is gone already is fine. */
  public void delete(TrainingJob job, PodView pod) {
    delete(job, pod.name());
  }

  /** Removes a pod by its name; one that is gone already is fine. */
  public void delete(TrainingJob job, String pod) {
    client.pods().inNamespace(job.getMetadata().getNamespace()).withName(pod).delete();
  }

  /** Removes a pod that cannot do anything useful any more, so that others need not wait for it. */
  public void deleteHanging(TrainingJob job, String pod) {
    client
        .pods()
        .inNamespace(job.getMetadata().getNamespace())
        .withName(pod)
        .withGracePeriod(1)
        .delete();
  }

  /** Removes pods of ours whose job does not exist any more: not every API server does. */
  public void deleteOrphans() {
    Set<String> uids = new HashSet<>();
    // Pods first: a job that comes meanwhile is not missed.
    List<Pod> ours = cache.ourPods();
    cache.allJobs().forEach(job -> uids.add(job.getMetadata().getUid()));
    for (Pod pod : ours) {
      boolean owned =
          pod.getMetadata().getOwnerReferences().stream()
              .anyMatch(owner -> uids.contains(owner.getUid()));
      if (!owned && pod.getMetadata().getDeletionTimestamp() == null) {
        client.pods().resource(pod).delete();
      }
    }
  }

  private UnseenPods.Cache cached(Supplier<List<Pod>> pods) {
    return new UnseenPods.Cache() {
      @Override
      public long version() {
        return cache.podsVersion();
      }

      @Override
      public List<Pod> pods() {
        return pods.get();
      }
    };
  }
}
