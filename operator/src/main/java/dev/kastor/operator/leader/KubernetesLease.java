package dev.kastor.operator.leader;

import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseSpec;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The lease as a Lease object; the chart makes it, so that the operator need only change it. */
final class KubernetesLease implements LeaseStore {
  private final KubernetesClient client;
  private final String namespace;
  private final String name;
  private final InstantSource clock;
  private @Nullable Lease newest;

  KubernetesLease(KubernetesClient client, String namespace, String name, InstantSource clock) {
    this.client = client;
    this.namespace = namespace;
    this.name = name;
    this.clock = clock;
  }

  @Override
  public Optional<Holding> read() {
    Lease found = client.leases().inNamespace(namespace).withName(name).get();
    newest = found;
    return Optional.ofNullable(found).map(KubernetesLease::holding);
  }

  private static Holding holding(Lease found) {
    LeaseSpec spec = found.getSpec() == null ? new LeaseSpec() : found.getSpec();
    String holder = spec.getHolderIdentity();
    Integer transitions = spec.getLeaseTransitions();
    Integer seconds = spec.getLeaseDurationSeconds();
    return new Holding(
        holder == null ? "" : holder,
        transitions == null ? 0 : transitions,
        Duration.ofSeconds(seconds == null ? 0 : seconds),
        found.getMetadata().getResourceVersion());
  }

  @Override
  public Optional<Holding> write(
      @Nullable Holding seen, String holder, int transitions, Duration duration) {
    Lease before = seen == null ? null : newest;
    LeaseSpec old = before == null || before.getSpec() == null ? new LeaseSpec() : before.getSpec();
    ZonedDateTime now = clock.instant().truncatedTo(ChronoUnit.MICROS).atZone(ZoneOffset.UTC);
    boolean renewal = holder.equals(old.getHolderIdentity());
    Lease next =
        (before == null ? new LeaseBuilder() : new LeaseBuilder(before))
            .editOrNewMetadata()
            .withNamespace(namespace)
            .withName(name)
            .endMetadata()
            .withNewSpec()
            .withHolderIdentity(holder)
            .withLeaseDurationSeconds((int) Math.ceilDiv(duration.toMillis(), 1000L))
            .withAcquireTime(renewal ? old.getAcquireTime() : now)
            .withRenewTime(now)
            .withLeaseTransitions(transitions)
            .endSpec()
            .build();
    try {
      var leases = client.leases().inNamespace(namespace).resource(next);
      // With the version that was read: whoever wrote in between wins.
      Lease written = before == null ? leases.create() : leases.update();
      newest = written;
      return Optional.of(holding(written));
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_CONFLICT) {
        return Optional.empty();
      }
      throw e;
    }
  }
}
