package dev.kastor.operator.pods;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.allocation.AllocationWriter;
import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.ComingPods;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.kube.NotSent;
import dev.kastor.operator.kube.OwnContainers;
import dev.kastor.operator.kube.PodName;
import dev.kastor.operator.kube.PodNumbers;
import dev.kastor.operator.kube.PodPlace;
import dev.kastor.operator.kube.Provenance;
import dev.kastor.operator.kube.Refusal;
import dev.kastor.operator.kube.SlotCount;
import dev.kastor.operator.mapping.JobMapper;
import dev.kastor.scheduler.model.JobId;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import jakarta.inject.Singleton;
import java.net.HttpURLConnection;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The pods of jobs, with our own writes that the cache has not seen yet.
 *
 * <p>Without them a second look at a job within milliseconds would make its pods twice.
 */
@Singleton
public final class JobPods {
  private static final Logger LOG = LoggerFactory.getLogger(JobPods.class);

  /** Deadline of a pod that its kubelet ends at once, in seconds since the kubelet took it. */
  private static final Long AT_ONCE = 1L;

  private final KubernetesClient client;
  private final ClusterCache cache;
  private final AllocationWriter allocations;
  private final PodNumbers numbers;
  private final SlotCount slots;
  private final ComingPods coming;
  private final UnseenPods unseen = new UnseenPods();
  private final SlotClaims claims = new SlotClaims();
  private final UnansweredPods unanswered = new UnansweredPods();

  public JobPods(
      KubernetesClient client,
      ClusterCache cache,
      AllocationWriter allocations,
      PodNumbers numbers,
      ComingPods coming,
      OperatorConfig config) {
    this.client = client;
    this.cache = cache;
    this.allocations = allocations;
    this.numbers = numbers;
    this.coming = coming;
    slots = new SlotCount(config.slotResource());
  }

  /** The pods of the replicas of this very job. */
  public List<PodView> of(TrainingJob job) {
    return PodView.of(all(job));
  }

  /** The pods of its parameter servers. */
  public List<ServerPod> servers(TrainingJob job) {
    return ServerPod.of(known(job, () -> cache.serverPods(job)));
  }

  /** The same as parts of a gang. */
  public List<GangPod> gang(TrainingJob job) {
    long next = numbers.next(job);
    return all(job).stream().map(pod -> GangPod.of(pod, next)).toList();
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

  /** Pods whose containers are not going to run, with what the kubelet says of each. */
  Map<PodView, String> stuck(TrainingJob job) {
    Map<PodView, String> stuck = new HashMap<>();
    for (Pod pod : all(job)) {
      PodView view = PodView.of(pod);
      if (view.live()) {
        PodTrouble.lasting(pod).ifPresent(words -> stuck.put(view, words));
      }
    }
    return stuck;
  }

  private List<Pod> all(TrainingJob job) {
    return known(job, () -> cache.pods(job)).stream().filter(JobPods::isReplica).toList();
  }

  /** What the cache shows, and all pods of the job that it does not show yet. */
  private List<Pod> known(TrainingJob job, Supplier<List<Pod>> shown) {
    String uid = job.getMetadata().getUid();
    // Unseen ones may be of an earlier job of the name.
    return unseen.of(Labels.id(job), cached(shown)).stream()
        .filter(pod -> Labels.ownedBy(pod, uid))
        .toList();
  }

  private static boolean isReplica(Pod pod) {
    return PodName.serverIndex(pod.getMetadata().getName()).isEmpty();
  }

  /** Servers that no node has taken since before that, with what kube-scheduler says of each. */
  public Map<String, String> unscheduledServers(TrainingJob job, Instant then) {
    return cache.serverPods(job).stream()
        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
        .filter(pod -> PodTrouble.unschedulableSince(pod).filter(then::isAfter).isPresent())
        .collect(
            Collectors.toMap(
                pod -> pod.getMetadata().getName(), pod -> PodTrouble.of(pod).orElse("")));
  }

  /** Why pods of the job do not run yet, in the words of those who start them. */
  public List<String> troubles(TrainingJob job) {
    return Stream.concat(cache.pods(job).stream(), cache.serverPods(job).stream())
        .filter(SlotCount::occupies)
        .flatMap(pod -> PodTrouble.of(pod).stream())
        .sorted()
        .toList();
  }

  /**
   * Free slots for new pods of a job, which nobody else fills until the claim is closed.
   *
   * @param wanted pods by node
   * @param usable nodes that may be used; others have no free slots
   * @throws KubernetesClientException if it cannot be found out what is free
   */
  public SlotClaims.Claim claim(
      TrainingJob job, Map<String, Integer> wanted, Predicate<Node> usable) {
    boolean foundOwn = settle(Labels.id(job), wanted.keySet());
    return claims.claim(
        wanted,
        job.getSpec().slotsPerReplica(),
        // Its own pods that are there after all: it has to look again at what it lacks.
        name -> foundOwn ? 0 : cache.node(name).filter(usable).map(this::freeSlots).orElse(0));
  }

  private int freeSlots(Node node) {
    String name = node.getMetadata().getName();
    // Before the others: one that is found meanwhile counts twice for a moment, never not at all.
    int doubtful = unanswered.on(name).stream().mapToInt(slots::coming).sum();
    Set<String> known = coming.on(name);
    List<Pod> there = new ArrayList<>();
    List<Pod> onTheirWay = new ArrayList<>();
    for (Pod pod : unseen.on(name, cached(() -> cache.podsOnOrMeantFor(name)))) {
      (PodPlace.on(pod).isPresent() ? there : onTheirWay).add(pod);
    }
    coming.keep(name, known, onTheirWay);
    int reserved =
        byMaker(onTheirWay).stream()
            .mapToInt(made -> slots.coming(made.pods(), given(made.job(), name), coming))
            .sum();
    return Math.max(0, slots.free(node, there) - reserved - doubtful);
  }

  /** Pods by the jobs that they were made for, without pods of unknown jobs. */
  private Collection<Made> byMaker(List<Pod> pods) {
    Map<String, Made> made = new HashMap<>();
    for (Pod pod : pods) {
      cache
          .maker(pod)
          .map(job ->
              made.computeIfAbsent(
                  job.getMetadata().getUid(), uid -> new Made(job, new ArrayList<>())))
          .ifPresent(of -> of.pods().add(pod));
    }
    return made.values();
  }

  private record Made(TrainingJob job, List<Pod> pods) {}

  /**
   * Counts pods that an earlier leader made and that are still on their way, as far as their jobs
   * were given the slots. Call before any allocation changes.
   */
  public void adopt() {
    for (Node node : cache.nodes()) {
      String name = node.getMetadata().getName();
      List<Pod> onTheirWay =
          cache.podsOnOrMeantFor(name).stream().filter(pod -> PodPlace.on(pod).isEmpty()).toList();
      for (Made made : byMaker(onTheirWay)) {
        int left = given(made.job(), name);
        for (Pod pod : made.pods()) {
          left -= slots.coming(pod);
          if (left >= 0) {
            coming.add(pod);
          }
        }
      }
    }
  }

  /**
   * Slots of the node that the job was given, or had when it went. Its pods hold no more: the rest
   * is about to go.
   */
  private int given(TrainingJob job, String node) {
    return JobMapper.allocation(allocations.current(job)).slotsByNode().getOrDefault(node, 0);
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
        .filter(found -> cache.maker(found).isPresent());
  }

  /**
   * Makes a pod; one of that name that is there already is fine.
   *
   * @throws Refusal if the API server does not take it
   */
  public void create(Pod pod) {
    try {
      Pod made = client.pods().inNamespace(pod.getMetadata().getNamespace()).resource(pod).create();
      unseen.add(made);
      coming.add(made);
    } catch (KubernetesClientException e) {
      boolean there = e.getCode() == HttpURLConnection.HTTP_CONFLICT;
      if (there || NotSent.mayBeDone(e)) {
        unanswered.add(pod);
      }
      if (!there) {
        throw Refusal.or(e);
      }
    }
  }

  /**
   * Makes the pod of a server. It holds no slot, so nobody has to know at once whether a request
   * without an answer made one: of two for a server, one goes.
   *
   * @throws Refusal if the API server does not take it
   */
  public void createServer(Pod pod) {
    try {
      unseen.add(
          client.pods().inNamespace(pod.getMetadata().getNamespace()).resource(pod).create());
    } catch (KubernetesClientException e) {
      throw Refusal.or(e);
    }
  }

  /**
   * Ends what others put beside the containers of the job's pods where those have all ended: until
   * then the pod holds its slots. The pod itself stays, with its log and its last words.
   */
  public void endRest(TrainingJob job) {
    Stream.concat(cache.pods(job).stream(), cache.serverPods(job).stream())
        .filter(pod -> SlotCount.occupies(pod) && OwnContainers.of(pod).outlived())
        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
        .filter(pod -> !AT_ONCE.equals(pod.getSpec().getActiveDeadlineSeconds()))
        .forEach(this::endRest);
  }

  private void endRest(Pod pod) {
    var meta = pod.getMetadata();
    try {
      client
          .pods()
          .inNamespace(meta.getNamespace())
          .withName(meta.getName())
          .patch(
              PatchContext.of(PatchType.JSON_MERGE),
              """
              {"metadata": {"uid": "%s"}, "spec": {"activeDeadlineSeconds": %d}}
              """
                  .formatted(meta.getUid(), AT_ONCE));
    } catch (KubernetesClientException e) {
      // Whoever refuses it, or a pod that has just gone, keeps the job from nothing.
      LOG.warn(
          "pod {} of {} cannot be ended: {}", meta.getName(), meta.getNamespace(), e.getMessage());
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

  /**
   * Removes pods that say that a job's controller made them, where the job does not exist any more:
   * not every API server does.
   */
  public void deleteOrphans() {
    Set<String> uids = new HashSet<>();
    // Pods first: a job that comes meanwhile is not missed.
    List<Pod> claiming = cache.claimingPods();
    cache.allJobs().forEach(job -> uids.add(job.getMetadata().getUid()));
    for (Pod pod : claiming) {
      boolean owned = Provenance.claim(pod).filter(claim -> uids.contains(claim.uid())).isPresent();
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
