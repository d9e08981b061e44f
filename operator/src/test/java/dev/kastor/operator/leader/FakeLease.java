package dev.kastor.operator.leader;

import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A lease in memory, and an API server that can be away. */
final class FakeLease implements LeaseStore {
  private @Nullable Holding held;
  private long version;
  boolean away;

  /** Somebody writes between another's read and write. */
  boolean contested;

  @Override
  public Optional<Holding> read() {
    answer();
    return Optional.ofNullable(held);
  }

  @Override
  public Optional<Holding> write(
      @Nullable Holding seen, String holder, int transitions, Duration duration) {
    answer();
    if (contested) {
      contested = false;
      version++;
      held = new Holding("thief", transitions, duration, "v" + version);
    }
    Holding now = held;
    boolean same =
        now == null ? seen == null : seen != null && now.version().equals(seen.version());
    if (!same) {
      return Optional.empty();
    }
    version++;
    held = new Holding(holder, transitions, duration, "v" + version);
    return Optional.of(held);
  }

  String holder() {
    return held == null ? "" : held.holder();
  }

  int transitions() {
    return held == null ? 0 : held.transitions();
  }

  private void answer() {
    if (away) {
      throw new KubernetesClientException("away");
    }
  }
}
