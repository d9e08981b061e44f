package dev.kastor.operator.kube;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.signal.Signals;
import dev.kastor.scheduler.model.JobId;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Singleton;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Jobs, pods, nodes and queues as the API server last told us, and a signal for each change that
 * matters.
 *
 * <p>Thread-safe. A write is seen here some milliseconds after it was answered.
 */
@Singleton
public final class ClusterCache {
  private static final Logger LOG = LoggerFactory.getLogger(ClusterCache.class);

  /** Jobs that are remembered after they are gone, as their pods leave after them. */
  private static final int GONE = 1_000;

  private final KubernetesClient client;
  private final Signals signals;
  private final SlotWaiters waiters;
  private final Newcomers newcomers;
  private final Provenance provenance;

  private final JobNamespaces namespaces;
  private final AtomicBoolean started = new AtomicBoolean();
  private final SharedIndexInformer<TrainingJob> jobs;
  private final SharedIndexInformer<Pod> pods;
  private final PodStore podStore = new PodStore();
  private final SharedIndexInformer<Node> nodes;
  private final SharedIndexInformer<dev.kastor.crds.queue.Queue> queues;
  private final Queue<TrainingJob> deleted = new ConcurrentLinkedQueue<>();
  private final Map<String, TrainingJob> gone =
      Collections.synchronizedMap(
          new LinkedHashMap<>() {
            private static final long serialVersionUID = 1;

            @Override
            protected boolean removeEldestEntry(Map.Entry<String, TrainingJob> eldest) {
              return size() > GONE;
            }
          });
  private volatile boolean takesDeleted;

  /** Makes informers that {@link #start} fills. */
  public ClusterCache(
      KubernetesClient client,
      Signals signals,
      SlotWaiters waiters,
      Newcomers newcomers,
      Provenance provenance,
      JobNamespaces namespaces) {
    this.namespaces = namespaces;
    this.client = client;
    this.signals = signals;
    this.waiters = waiters;
    this.newcomers = newcomers;
    this.provenance = provenance;
    jobs = client.resources(TrainingJob.class).inAnyNamespace().runnableInformer(0);
    pods = client.pods().inAnyNamespace().runnableInformer(0).itemStore(podStore);
    nodes = client.nodes().runnableInformer(0);
    queues = client.resources(dev.kastor.crds.queue.Queue.class).runnableInformer(0);
    // An API server that is away comes back: lists and watches are tried until then.
    jobs.exceptionHandler((listed, failure) -> true);
    pods.exceptionHandler((listed, failure) -> true);
    nodes.exceptionHandler((listed, failure) -> true);
    queues.exceptionHandler((listed, failure) -> true);
    jobs.addEventHandler(new Changes<>(this::jobChanged));
    pods.addEventHandler(new Changes<>(this::podChanged));
    nodes.addEventHandler(new Changes<>((before, after) -> nodeChanged(before, after)));
    queues.addEventHandler(new Changes<>((before, after) -> queueChanged(before, after)));
  }

  /** Tells who comes, changes and goes; of those that are there already as if they came. */
  public void onJobs(ResourceEventHandler<TrainingJob> listener) {
    jobs.addEventHandler(listener);
  }

  /** Lists everything and watches from then on; returns when the first lists are in. */
  public void start() {
    if (started.compareAndSet(false, true)) {
      // Before the jobs: no job may be seen without the quota that it is under.
      queues.run();
      nodes.run();
      pods.run();
      jobs.run();
      if (!namespaces.names().isEmpty()) {
        LOG.info(
            "runs the jobs of namespaces {} alone; {} TrainingJobs of others are left as they are",
            namespaces.names().stream().sorted().toList(),
            allJobs().stream().filter(job -> !ours(job.getMetadata().getNamespace())).count());
      }
    }
  }

  /** Whether the first lists are in. */
  public boolean synced() {
    return started.get()
        && jobs.hasSynced()
        && pods.hasSynced()
        && nodes.hasSynced()
        && queues.hasSynced();
  }

  /** Whether all watches are up. */
  public boolean watching() {
    return synced()
        && jobs.isWatching()
        && pods.isWatching()
        && nodes.isWatching()
        && queues.isWatching();
  }

  /** All jobs that are this operator's to run, in no order. */
  public List<TrainingJob> jobs() {
    return jobs.getStore().list().stream().filter(this::ours).toList();
  }

  /** All jobs, those that others run too. */
  public List<TrainingJob> allJobs() {
    return jobs.getStore().list();
  }

  /** The newest that is known of this very job; empty once it is gone or another has its name. */
  public Optional<TrainingJob> newest(TrainingJob job) {
    return job(Labels.id(job)).filter(known -> Labels.sameUid(known, job));
  }

  /** One job; empty if it is not this operator's to run. */
  public Optional<TrainingJob> job(JobId id) {
    return Optional.ofNullable(jobs.getStore().getByKey(id.toString())).filter(this::ours);
  }

  /** Whether a job is this operator's to run: by its {@code managedBy} and its namespace. */
  public boolean ours(TrainingJob job) {
    return job.getSpec().ours() && ours(job.getMetadata().getNamespace());
  }

  private boolean ours(String namespace) {
    return namespaces.has(namespace);
  }

  /** The pods of replicas that the operator made for this very job. */
  public List<Pod> pods(TrainingJob job) {
    return pods(job, claim -> claim.server().isEmpty());
  }

  /** The pods of parameter servers that the operator made for this very job. */
  public List<Pod> serverPods(TrainingJob job) {
    return pods(job, claim -> claim.server().isPresent());
  }

  private List<Pod> pods(TrainingJob job, Predicate<Provenance.Claim> role) {
    return podStore.claiming(Labels.id(job)).stream()
        .filter(pod ->
            Provenance.claim(pod)
                .filter(role)
                .filter(claim -> provenance.made(job, claim))
                .isPresent())
        .toList();
  }

  /** The job that the operator made the pod for, which may be gone; empty if it did not make it. */
  public Optional<TrainingJob> maker(Pod pod) {
    return Provenance.claim(pod)
        .flatMap(claim -> known(claim).filter(job -> provenance.made(job, claim)));
  }

  private Optional<TrainingJob> known(Provenance.Claim claim) {
    return job(claim.job())
        .filter(job -> job.getMetadata().getUid().equals(claim.uid()))
        .or(() -> Optional.ofNullable(gone.get(claim.uid())));
  }

  /** The version that the pods have reached: each change up to it is seen. */
  public long podsVersion() {
    return ResourceVersions.of(pods.lastSyncResourceVersion());
  }

  /** One pod, from the cache or else from the API server. */
  public Optional<Pod> pod(String namespace, String name) {
    Pod cached = pods.getStore().getByKey(namespace + "/" + name);
    return Optional.ofNullable(
        cached != null ? cached : client.pods().inNamespace(namespace).withName(name).get());
  }

  /** The pods that are on a node, whoever made them. */
  public List<Pod> podsOn(String node) {
    return List.copyOf(podStore.on(node));
  }

  /** Those, and the pods that the operator made for the node and that are not on it yet. */
  public List<Pod> podsOnOrMeantFor(String node) {
    // In this order, as a pod may get there meanwhile.
    Map<String, Pod> all = new LinkedHashMap<>();
    podStore.meantFor(node).stream()
        .filter(pod -> maker(pod).isPresent())
        .forEach(pod -> all.put(pod.getMetadata().getUid(), pod));
    podsOn(node).forEach(pod -> all.put(pod.getMetadata().getUid(), pod));
    return List.copyOf(all.values());
  }

  /** All pods that the operator made. */
  public List<Pod> ourPods() {
    return pods.getStore().list().stream().filter(pod -> maker(pod).isPresent()).toList();
  }

  /** All pods that claim to be of a job, true or not, in the namespaces whose jobs it runs. */
  public List<Pod> claimingPods() {
    return pods.getStore().list().stream()
        .filter(pod -> Provenance.claim(pod).isPresent())
        .filter(pod -> ours(pod.getMetadata().getNamespace()))
        .toList();
  }

  /** All nodes, in no order. */
  public List<Node> nodes() {
    return nodes.getStore().list();
  }

  /** One node. */
  public Optional<Node> node(String name) {
    return Optional.ofNullable(nodes.getStore().getByKey(name));
  }

  /** All queues, in no order. */
  public List<dev.kastor.crds.queue.Queue> queues() {
    return queues.getStore().list();
  }

  @PreDestroy
  void stop() {
    queues.stop();
    jobs.stop();
    pods.stop();
    nodes.stop();
  }

  /** Jobs that went away since the last call; those before the first call are nobody's. */
  public List<TrainingJob> takeDeleted() {
    takesDeleted = true;
    List<TrainingJob> taken = new ArrayList<>();
    for (TrainingJob job = deleted.poll(); job != null; job = deleted.poll()) {
      taken.add(job);
    }
    return taken;
  }

  private void jobChanged(Optional<TrainingJob> before, Optional<TrainingJob> after) {
    before
        .filter(job -> after.filter(now -> Labels.sameUid(job, now)).isEmpty())
        .ifPresent(job -> gone.put(job.getMetadata().getUid(), job));
    if (after.isEmpty() && takesDeleted) {
      deleted.addAll(before.stream().filter(this::ours).toList());
    }
    TrainingJob job = after.or(() -> before).orElseThrow();
    if (before.isEmpty() && job.getStatus() == null) {
      newcomers.came(job);
    } else if (after.isEmpty() || job.getStatus() != null) {
      newcomers.met(job);
    }
    boolean sameSpec =
        before.isPresent()
            && after.isPresent()
            && before.get().getSpec().equals(after.get().getSpec());
    if (!sameSpec) {
      // Changes of the status are signalled by whoever makes them.
      signals.job(Labels.id(job));
      if (before.isEmpty()) {
        signals.arrived(Labels.id(job));
      } else {
        signals.round();
      }
    }
  }

  private void podChanged(Optional<Pod> before, Optional<Pod> after) {
    Pod pod = after.or(() -> before).orElseThrow();
    Provenance.claim(pod).map(Provenance.Claim::job).ifPresent(signals::job);
    boolean freed =
        before.isPresent()
            && SlotCount.occupies(before.get())
            && (after.isEmpty() || !SlotCount.occupies(after.get()));
    boolean leaves =
        before.isPresent() && after.isPresent() && !leaving(before.get()) && leaving(after.get());
    if (leaves) {
      // Evicted, perhaps from a node where it cannot be replaced.
      signals.round();
    }
    if (freed && (PodPlace.on(before.orElseThrow()).isPresent() || maker(pod).isPresent())) {
      signals.round();
      waiters.freed(PodPlace.meant(pod)).forEach(signals::job);
    }
  }

  /** Whether something other than we wants the pod gone. */
  private static boolean leaving(Pod pod) {
    return pod.getStatus() != null
        && pod.getStatus().getConditions().stream()
            .anyMatch(condition ->
                "DisruptionTarget".equals(condition.getType())
                    && "True".equals(condition.getStatus()));
  }

  private void nodeChanged(Optional<Node> before, Optional<Node> after) {
    boolean same =
        before.isPresent()
            && after.isPresent()
            && Objects.equals(before.get().getSpec(), after.get().getSpec())
            && SlotCount.ready(before.get()) == SlotCount.ready(after.get())
            && before
                .get()
                .getStatus()
                .getAllocatable()
                .equals(after.get().getStatus().getAllocatable());
    if (!same) {
      signals.round();
    }
  }

  private void queueChanged(
      Optional<dev.kastor.crds.queue.Queue> before, Optional<dev.kastor.crds.queue.Queue> after) {
    boolean same =
        before.isPresent()
            && after.isPresent()
            && before.get().getSpec().equals(after.get().getSpec());
    if (!same) {
      signals.round();
      // A queue that came, went or lets others in decides whether its jobs are refused.
      jobs().forEach(job -> signals.job(Labels.id(job)));
    }
  }

  private record Changes<T extends HasMetadata>(Listener<T> listener)
      implements ResourceEventHandler<T> {
    interface Listener<T> {
      void changed(Optional<T> before, Optional<T> after);
    }

    @Override
    public void onAdd(T object) {
      listener.changed(Optional.empty(), Optional.of(object));
    }

    @Override
    public void onUpdate(T before, T after) {
      listener.changed(Optional.of(before), Optional.of(after));
    }

    @Override
    public void onDelete(T object, boolean unknown) {
      listener.changed(Optional.of(object), Optional.empty());
    }
  }
}
