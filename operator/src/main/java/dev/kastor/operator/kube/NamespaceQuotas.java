package dev.kastor.operator.kube;

import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.signal.Signals;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceQuota;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.math.BigDecimal;
import java.net.HttpURLConnection;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * ResourceQuotas of namespaces, as far as they bound slots and pods: what a job gets beyond them
 * cannot be filled. Quotas of scopes, and those of other resources, are met when the API server
 * refuses a pod. Thread-safe.
 *
 * <p>Where the operator may not read them, or the API server has none, there are none.
 */
@Singleton
public final class NamespaceQuotas {
  private static final Logger LOG = LoggerFactory.getLogger(NamespaceQuotas.class);

  /**
   * One limit of one quota.
   *
   * @param perPod how much of it a pod takes
   */
  private record Limit(String quota, String resource, long hard, long used, int perPod) {
    long room() {
      return Math.max(0, hard - used) / perPod;
    }

    String words() {
      return "ResourceQuota %s allows %d %s, of which %d are used"
          .formatted(quota, hard, resource, used);
    }
  }

  private final KubernetesClient client;
  private final ClusterCache cache;
  private final Signals signals;
  private final String slots;
  private final List<Consumer<String>> listeners = new CopyOnWriteArrayList<>();
  private volatile @Nullable SharedIndexInformer<ResourceQuota> informer;

  @Inject
  public NamespaceQuotas(
      KubernetesClient client, ClusterCache cache, Signals signals, OperatorConfig config) {
    this(client, cache, signals, config.slotResource());
  }

  NamespaceQuotas(
      KubernetesClient client, ClusterCache cache, Signals signals, String slotResource) {
    this.client = client;
    this.cache = cache;
    this.signals = signals;
    slots = "requests." + slotResource;
  }

  /** Calls the listener with each namespace whose quotas have other limits than before. */
  public void onLimits(Consumer<String> listener) {
    listeners.add(listener);
  }

  /** Lists and watches them, if they can be read. */
  public void start() {
    var all = client.resourceQuotas().inAnyNamespace();
    try {
      var _ = all.list(new ListOptionsBuilder().withLimit(1L).build());
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_NOT_FOUND) {
        return;
      }
      if (Refusal.is(e)) {
        LOG.warn(
            "ResourceQuotas of namespaces are not known before one refuses a pod: {}",
            Refusal.words(e));
        return;
      }
      // Away for now: the informer tries until it is back.
    }
    SharedIndexInformer<ResourceQuota> made = all.runnableInformer(0);
    made.exceptionHandler((listed, failure) -> true);
    made.addEventHandler(new Changes());
    informer = made;
    // Not waited for: a right to list and none to watch would keep the leader from its work.
    made.start();
  }

  @PreDestroy
  void stop() {
    SharedIndexInformer<ResourceQuota> running = informer;
    if (running != null) {
      running.stop();
    }
  }

  /** Whether a namespace has any that count. */
  public boolean any(String namespace) {
    return !limits(namespace, 1).isEmpty();
  }

  /** The words of a quota that never has room for so many replicas; empty if none is so small. */
  public Optional<String> tooSmall(String namespace, int replicas, int slotsPerReplica) {
    return limits(namespace, slotsPerReplica).stream()
        .filter(limit -> limit.hard() / limit.perPod() < replicas)
        .map(Limit::words)
        .findFirst();
  }

  /** The words of a quota that has no room for so many replicas more; empty if all have it. */
  public Optional<String> full(String namespace, int replicas, int slotsPerReplica) {
    return limits(namespace, slotsPerReplica).stream()
        .filter(limit -> limit.room() < replicas)
        .map(Limit::words)
        .findFirst();
  }

  /** Replicas more for which there is room; {@link Integer#MAX_VALUE} where nothing bounds them. */
  public int room(String namespace, int slotsPerReplica) {
    int room = Integer.MAX_VALUE;
    for (Limit limit : limits(namespace, slotsPerReplica)) {
      room = Math.clamp(limit.room(), 0, room);
    }
    return room;
  }

  private List<Limit> limits(String namespace, int slotsPerReplica) {
    SharedIndexInformer<ResourceQuota> running = informer;
    if (running == null) {
      return List.of();
    }
    List<Limit> limits = new ArrayList<>();
    for (ResourceQuota quota : running.getIndexer().byIndex(Cache.NAMESPACE_INDEX, namespace)) {
      limits.addAll(limits(quota, slotsPerReplica));
    }
    return limits;
  }

  private List<Limit> limits(ResourceQuota quota, int slotsPerReplica) {
    List<Limit> limits = new ArrayList<>();
    if (!scoped(quota)) {
      add(quota, slots, slotsPerReplica, limits);
      add(quota, "pods", 1, limits);
      add(quota, "count/pods", 1, limits);
    }
    return limits;
  }

  private static void add(ResourceQuota quota, String resource, int perPod, List<Limit> limits) {
    Long hard = amount(quota.getSpec().getHard(), resource);
    if (hard != null) {
      Long used = quota.getStatus() == null ? null : amount(quota.getStatus().getUsed(), resource);
      String name = quota.getMetadata().getNamespace() + "/" + quota.getMetadata().getName();
      limits.add(new Limit(name, resource, hard, used == null ? 0 : used, perPod));
    }
  }

  private static boolean scoped(ResourceQuota quota) {
    return quota.getSpec() == null
        || !quota.getSpec().getScopes().isEmpty()
        || quota.getSpec().getScopeSelector() != null;
  }

  private static @Nullable Long amount(@Nullable Map<String, Quantity> amounts, String resource) {
    Quantity amount = amounts == null ? null : amounts.get(resource);
    return amount == null
        ? null
        : amount
            .getNumericalAmount()
            .max(BigDecimal.ZERO)
            .min(BigDecimal.valueOf(Integer.MAX_VALUE))
            .longValue();
  }

  private void changed(Optional<ResourceQuota> before, Optional<ResourceQuota> after) {
    // What pods take of a quota is no news to anybody.
    if (before.isPresent() && after.isPresent() && same(before.get(), after.get())) {
      if (grew(before.get(), after.get())) {
        // Who waits for room is looked at by the round; who was refused has its own wait.
        signals.round();
      }
      return;
    }
    String namespace = after.or(() -> before).orElseThrow().getMetadata().getNamespace();
    listeners.forEach(listener -> listener.accept(namespace));
    signals.round();
    cache.jobs().stream()
        .filter(job -> job.getMetadata().getNamespace().equals(namespace))
        .forEach(job -> signals.job(Labels.id(job)));
  }

  /** Whether a quota has the limits that it had. */
  private boolean same(ResourceQuota before, ResourceQuota after) {
    return hard(before).equals(hard(after));
  }

  private List<Long> hard(ResourceQuota quota) {
    return limits(quota, 1).stream().map(Limit::hard).toList();
  }

  /** Whether a quota of the same limits has more room in one of them. */
  private boolean grew(ResourceQuota before, ResourceQuota after) {
    List<Limit> old = limits(before, 1);
    List<Limit> now = limits(after, 1);
    for (int i = 0; i < now.size(); i++) {
      if (now.get(i).room() > old.get(i).room()) {
        return true;
      }
    }
    return false;
  }

  private final class Changes implements ResourceEventHandler<ResourceQuota> {
    @Override
    public void onAdd(ResourceQuota quota) {
      changed(Optional.empty(), Optional.of(quota));
    }

    @Override
    public void onUpdate(ResourceQuota before, ResourceQuota after) {
      changed(Optional.of(before), Optional.of(after));
    }

    @Override
    public void onDelete(ResourceQuota quota, boolean unknown) {
      changed(Optional.of(quota), Optional.empty());
    }
  }
}
