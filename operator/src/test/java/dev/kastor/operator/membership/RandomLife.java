package dev.kastor.operator.membership;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.protocol.Membership;
import dev.kastor.protocol.Membership.Action;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/** Lets random things happen to a job and checks after each what must always hold. */
final class RandomLife {
  private final SplittableRandom random;
  private final RuledJob job = new RuledJob();
  private int pods;

  RandomLife(long seed) {
    random = new SplittableRandom(seed);
  }

  void live(int events) {
    for (int i = 0; i < events; i++) {
      event();
      react();
    }
    settle();
  }

  private void event() {
    List<String> live = job.live();
    String some = live.isEmpty() ? "" : live.get(random.nextInt(live.size()));
    switch (random.nextInt(8)) {
      case 0 -> job.target(random.nextInt(5));
      case 1 -> job.pod("p" + pods++, "n" + random.nextInt(2));
      case 2 -> act(some, () -> job.dies(some));
      case 3, 4 -> act(some, () -> speak(some));
      case 5 -> act(some, () -> job.broken(some));
      case 6 -> job.full(random.nextBoolean());
      default -> job.wait(random.nextInt(5));
    }
  }

  private void speak(String pod) {
    if (job.members().contains(pod)) {
      job.training(pod);
    } else {
      job.ready(pod);
    }
  }

  private static void act(String pod, Runnable what) {
    if (!pod.isEmpty()) {
      what.run();
    }
  }

  private void react() {
    Optional<Membership> next = job.next();
    if (next.isEmpty()) {
      return;
    }
    boolean trained = !job.members().isEmpty();
    Membership membership = job.publish();
    if (membership.action() == Action.STOP) {
      assertThat(trained).as("only what trains is stopped").isTrue();
      // Those who are told to stop end.
      job.live().stream().filter(pod -> random.nextBoolean()).forEach(job::dies);
      return;
    }
    assertThat(membership.action()).isEqualTo(Action.RUN);
    assertThat(job.target()).isPositive();
    assertThat(job.elasticity().allows(membership.members().size())).isTrue();
    assertThat(job.members()).doesNotHaveDuplicates().allMatch(job.live()::contains);
    assertThat(job.members()).allMatch(job::canJoin);
    for (int rank = 0; rank < membership.members().size(); rank++) {
      assertThat(membership.members().get(rank).rank()).isEqualTo(rank);
    }
  }

  /** Without further faults every job ends up with what the scheduler gave it. */
  private void settle() {
    job.target(3).full(false);
    while (job.live().size() < 3) {
      job.pod("p" + pods++, "n1");
    }
    for (int round = 0; round < 20; round++) {
      job.live().forEach(this::speak);
      job.wait(5);
      react();
    }
    assertThat(job.members()).hasSize(3);
    job.target(0);
    react();
    assertThat(job.members()).isEmpty();
    assertThat(job.next()).isEmpty();
  }
}
