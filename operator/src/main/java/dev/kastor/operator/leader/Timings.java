package dev.kastor.operator.leader;

import java.time.Duration;

/**
 * How patient an election is.
 *
 * @param lease how long a lease that nobody renews keeps others out
 * @param deadline how long after its last renewal a leader still writes
 * @param retry time between two looks at the lease
 */
record Timings(Duration lease, Duration deadline, Duration retry) {
  Timings {
    if (retry.isNegative() || retry.isZero()) {
      throw new IllegalArgumentException(
          "kastor.leader-election.retry-period (%s) must be above 0".formatted(retry));
    }
    if (deadline.compareTo(retry.multipliedBy(2)) < 0) {
      throw new IllegalArgumentException(
          "kastor.leader-election.renew-deadline (%s) must be at least twice retry-period (%s), or one slow answer costs the lease"
              .formatted(deadline, retry));
    }
    if (lease.compareTo(deadline.plusSeconds(1)) < 0) {
      throw new IllegalArgumentException(
          "kastor.leader-election.lease-duration (%s) must be at least a second above renew-deadline (%s), or two operators could write"
              .formatted(lease, deadline));
    }
  }
}
