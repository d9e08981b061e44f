package dev.kastor.agent.trainer;

import dev.kastor.agent.membership.MembershipClient;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.Membership.Action;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Generations that concern a process, in the order in which it takes part in them.
 *
 * <p>The training thread owns it.
 */
final class Generations {
  private static final Duration RETRY = Duration.ofMillis(250);
  private static final Duration POLL = Duration.ofSeconds(1);

  private final MembershipClient memberships;
  private final Predicate<Membership> lists;
  private final Predicate<Membership> complete;
  private volatile long generation;
  private boolean retry;

  /**
   * @param lists whether a generation lists us
   * @param complete whether a generation can begin; where it cannot, it is as if nobody had told it
   */
  Generations(
      MembershipClient memberships, Predicate<Membership> lists, Predicate<Membership> complete) {
    this.memberships = memberships;
    this.lists = lists;
    this.complete = complete;
  }

  /** The generation we are in; 0 before the first. */
  long current() {
    return generation;
  }

  /** We are in this generation. */
  void entered(long now) {
    generation = now;
    retry = false;
  }

  /** We fell out of this generation, or did not come into it. */
  void broke(long target) {
    generation = Math.max(generation, target);
    retry = true;
  }

  /** Waits until there is something to do other than what we do. */
  Membership next() throws InterruptedException {
    while (true) {
      Optional<Membership> newer = memberships.await(this::isNextForUs, retry ? RETRY : POLL);
      if (newer.isPresent()) {
        return newer.get();
      }
      // Perhaps no member died and only a connection did: then the same members can go on.
      Optional<Membership> same =
          memberships
              .newest()
              .filter(candidate -> candidate.generation() == generation && generation > 0)
              .filter(this::concernsUs);
      if (retry && same.isPresent()) {
        return same.get();
      }
    }
  }

  /** Told to end while in no ring, we need not ask in which generation. */
  private boolean isNextForUs(Membership candidate) {
    return concernsUs(candidate)
        && (candidate.action() != Action.RUN || candidate.generation() > generation);
  }

  /** What we know beyond the generation we are in. */
  Optional<Membership> newer() {
    return memberships
        .newest()
        .filter(candidate -> candidate.generation() > generation && concernsUs(candidate));
  }

  /** The newest generation that concerns us. */
  long newest() {
    return memberships.newest().filter(this::concernsUs).map(Membership::generation).orElse(0L);
  }

  /** A joiner waits until it is listed; a member that is not listed any more leaves. */
  private boolean concernsUs(Membership candidate) {
    return switch (candidate.action()) {
      case WAIT -> false;
      case STOP, LEAVE -> true;
      case RUN -> complete.test(candidate) && (generation > 0 || lists.test(candidate));
    };
  }
}
