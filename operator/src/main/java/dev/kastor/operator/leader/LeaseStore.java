package dev.kastor.operator.leader;

import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Where the lease is kept; a write succeeds only on what was read. */
interface LeaseStore {
  /**
   * The lease as it stands.
   *
   * @param holder who has it; empty if nobody
   * @param transitions how often it changed hands
   * @param duration how long it is good for after each renewal
   * @param version changes with every write
   */
  record Holding(String holder, int transitions, Duration duration, String version) {}

  /** The lease; empty if there is none yet. */
  Optional<Holding> read();

  /**
   * Makes {@code holder} the one who has it, as of now.
   *
   * @param seen what was read; null to make the lease
   * @param holder who has it from now on; empty for nobody
   * @return the lease as written; empty if it was not as seen any more
   */
  Optional<Holding> write(
      @Nullable Holding seen, String holder, int transitions, Duration duration);
}
