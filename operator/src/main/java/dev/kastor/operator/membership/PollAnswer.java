package dev.kastor.operator.membership;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Member;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.Membership.Action;
import dev.kastor.protocol.ParameterServer;
import dev.kastor.protocol.ReplicaState;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** What a replica that polls is told. */
public final class PollAnswer {
  private static final BatchPlan NO_BATCH = new BatchPlan(1, 0);

  private PollAnswer() {}

  /**
   * The answer that need not wait; empty to keep the poll waiting.
   *
   * @param wanted whether the allocation covers the pod; asked only where that decides
   * @param finished whether the job ended
   */
  public static Optional<Membership> now(
      ReplicaState replica,
      Optional<Membership> current,
      long generation,
      BooleanSupplier wanted,
      boolean finished) {
    boolean newer = current.isPresent() && current.get().generation() > replica.generation();
    boolean listed = current.isPresent() && lists(current.get(), replica.pod());
    if (replica.generation() > 0) {
      // In a ring: it has to agree with the others on the step at which it follows or leaves.
      if (newer) {
        return current;
      }
      // After the end it finishes by itself.
      boolean stays = listed || finished || stopping(current) || wanted.getAsBoolean();
      return leaveIf(!stays, generation);
    }
    if (listed && newer) {
      return current;
    }
    return leaveIf(finished || !wanted.getAsBoolean(), generation);
  }

  /** The answer when time is up and nothing changed. */
  public static Membership unchanged(long generation) {
    return new Membership(generation, Action.WAIT, List.of(), NO_BATCH);
  }

  private static boolean lists(Membership membership, String pod) {
    return membership.members().stream().map(Member::pod).anyMatch(pod::equals)
        || membership.serversOrNone().stream().map(ParameterServer::pod).anyMatch(pod::equals);
  }

  private static boolean stopping(Optional<Membership> current) {
    return current.isPresent() && current.get().action() == Action.STOP;
  }

  private static Optional<Membership> leaveIf(boolean leave, long generation) {
    return leave
        ? Optional.of(new Membership(generation, Action.LEAVE, List.of(), NO_BATCH))
        : Optional.empty();
  }
}
