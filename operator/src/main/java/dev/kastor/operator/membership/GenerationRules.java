package dev.kastor.operator.membership;

import dev.kastor.operator.pods.PodView;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Member;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.Membership.Action;
import dev.kastor.protocol.ParameterServer;
import dev.kastor.protocol.ReplicaState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * When the next generation comes and who is in it.
 *
 * <ul>
 *   <li>Nothing trains: all pods of the target must be ready, then they start together.
 *   <li>Growth: members train on until all pods of the target are ready.
 *   <li>A move for which there is no room beside the members: those of the target who are there go
 *       on alone as soon as they are ready; if they cannot, the members stop at a checkpoint.
 *   <li>Shrink: at once, so that slots are given back soon.
 *   <li>A member died: the survivors go on at once, as long as the job may have that size.
 *   <li>A ring broke and no member died: after a while those who report it go on, without the
 *       silent, or where they are too few, with them.
 *   <li>All members were asked to end, as by a drain: they stop at a checkpoint while they can.
 *   <li>No slots: the members stop at a checkpoint.
 *   <li>A job with parameter servers begins once all of them listen. One that died or moved: all
 *       wait until all listen again, and begin from the newest checkpoint.
 * </ul>
 */
public final class GenerationRules {
  private final Situation at;
  private final List<PodView> ready;
  private final Set<String> wanted;

  private GenerationRules(Situation at) {
    this.at = at;
    wanted = names(at.wanted());
    ready =
        at.wanted().stream()
            .filter(pod -> at.replicas().containsKey(pod.name()))
            .filter(pod -> replica(pod.name()).canJoin())
            .toList();
  }

  /** The membership to publish now; empty to leave things as they are. */
  public static Optional<Membership> next(Situation situation) {
    return new GenerationRules(situation).decide();
  }

  private Optional<Membership> decide() {
    Optional<Membership> training = at.current().filter(now -> now.action() == Action.RUN);
    Set<String> members =
        training.stream()
            .flatMap(now -> now.members().stream())
            .map(Member::pod)
            .collect(Collectors.toCollection(LinkedHashSet::new));
    Set<String> alive = new LinkedHashSet<>(members);
    alive.retainAll(at.live());
    if (at.target() == 0) {
      return alive.isEmpty() ? Optional.empty() : Optional.of(stop());
    }
    boolean complete = ready.size() == at.target();
    // Servers have the state: members that end leave nothing that has to be saved.
    if (alive.isEmpty()
        && !at.servers().used()
        && members.stream().anyMatch(at.leaving()::contains)) {
      return Optional.of(stop());
    }
    if (!at.servers().complete()) {
      return Optional.empty();
    }
    if (alive.isEmpty()) {
      return complete ? Optional.of(run(ready)) : Optional.empty();
    }
    boolean moved = at.servers().differ(training.orElseThrow());
    Set<String> silent = silent(training.get(), alive);
    if (complete && silent.isEmpty() && (moved || !names(ready).equals(members))) {
      return Optional.of(run(ready));
    }
    boolean died = alive.size() < members.size();
    boolean broken = broken(training.get(), alive);
    boolean surplus = !wanted.containsAll(alive);
    if (died || broken || surplus || moved) {
      return goOn(alive, silent, died || broken || moved);
    }
    return at.betterBatch().map(batch -> publish(Action.RUN, training.get().members(), batch));
  }

  /** Those who can go on without waiting for the whole target. */
  private Optional<Membership> goOn(Set<String> alive, Set<String> silent, boolean mustChange) {
    Set<String> staying = new LinkedHashSet<>(alive);
    staying.retainAll(wanted);
    staying.removeAll(silent);
    if (at.full() && ready.size() == at.wanted().size() && !wanted.containsAll(alive)) {
      return Optional.of(makeRoom(silent));
    }
    if (staying.isEmpty()) {
      // All members are to go: they train until the others are there, or stop if that takes long.
      boolean overdue = !at.now().minus(at.patience().migration()).isBefore(at.migrationSince());
      if (overdue) {
        return Optional.of(stop());
      }
      if (!mustChange) {
        return Optional.empty();
      }
      staying.addAll(alive);
      staying.removeAll(silent);
    } else {
      ready.stream().map(PodView::name).filter(pod -> !silent.contains(pod)).forEach(staying::add);
    }
    if (!silent.isEmpty() && !at.elasticity().allows(staying.size())) {
      // Members that noticed nothing of the break wait for the others: a newer generation ends
      // that.
      alive.stream().filter(wanted::contains).forEach(staying::add);
    }
    List<PodView> pods = staying.stream().map(this::pod).flatMap(Optional::stream).toList();
    if (pods.isEmpty() || !at.elasticity().allows(pods.size())) {
      return Optional.empty();
    }
    return Optional.of(run(pods));
  }

  /** Members who are not wanted leave, so that others can be made. */
  private Membership makeRoom(Set<String> silent) {
    List<PodView> able = ready.stream().filter(pod -> !silent.contains(pod.name())).toList();
    return !able.isEmpty() && at.elasticity().allows(able.size()) ? run(able) : stop();
  }

  /** Whether members have waited long enough for a ring that broke without a death. */
  private boolean broken(Membership training, Set<String> alive) {
    return alive.stream()
        .map(at.replicas()::get)
        .anyMatch(replica ->
            replica != null
                && replica.state().generation() == training.generation()
                && replica.brokenSince().isBefore(at.now().minus(at.patience().broken())));
  }

  /**
   * Members that should have noticed a broken ring by now and have not said so. Workers of servers
   * notice nothing of each other: one whose connection broke begins again with all the others.
   */
  private Set<String> silent(Membership training, Set<String> alive) {
    if (at.servers().used() || !broken(training, alive)) {
      return Set.of();
    }
    return alive.stream()
        .filter(pod ->
            !at.replicas().containsKey(pod)
                || replica(pod).state().phase() != ReplicaState.Phase.BROKEN)
        .collect(Collectors.toUnmodifiableSet());
  }

  private Membership stop() {
    return publish(Action.STOP, List.of(), new BatchPlan(1, 0));
  }

  private Membership run(List<PodView> pods) {
    List<PodView> order = ringOrder(pods);
    List<Member> members = new ArrayList<>();
    for (PodView pod : order) {
      String address = replica(pod.name()).state().address();
      members.add(new Member(pod.name(), members.size(), address, pod.node()));
    }
    return publish(Action.RUN, members, at.batches().apply(order));
  }

  private Membership publish(Action action, List<Member> members, BatchPlan batch) {
    List<ParameterServer> servers =
        action == Action.RUN ? at.servers().there() : List.<ParameterServer>of();
    return new Membership(at.generation() + 1, action, members, batch, servers);
  }

  /**
   * Pods of a node next to each other, nodes by their oldest pod: a ring then crosses each node's
   * boundary once, and the oldest pod keeps rank 0.
   */
  private static List<PodView> ringOrder(List<PodView> pods) {
    Map<String, Long> oldest = new HashMap<>();
    pods.forEach(pod -> oldest.merge(pod.node(), pod.number(), Math::min));
    return pods.stream()
        .sorted(
            Comparator.comparingLong((PodView pod) -> oldest.getOrDefault(pod.node(), 0L))
                .thenComparingLong(PodView::number))
        .toList();
  }

  private Optional<PodView> pod(String name) {
    if (!at.replicas().containsKey(name)) {
      return Optional.empty();
    }
    Optional<PodView> found =
        at.wanted().stream().filter(pod -> pod.name().equals(name)).findFirst();
    return found.or(() ->
        at.current().stream()
            .flatMap(now -> now.members().stream())
            .filter(member -> member.pod().equals(name))
            .findFirst()
            .map(GenerationRules::view));
  }

  /** A member that is to go has no place in the target, but its membership says where it is. */
  private static PodView view(Member member) {
    return new PodView(
        member.pod(),
        member.rank(),
        member.node(),
        PodView.State.RUNNING,
        false,
        java.time.Instant.EPOCH,
        java.time.Instant.EPOCH,
        0,
        Optional.empty());
  }

  private Replica replica(String pod) {
    Replica replica = at.replicas().get(pod);
    if (replica == null) {
      throw new IllegalStateException("pod %s has never polled".formatted(pod));
    }
    return replica;
  }

  private static Set<String> names(List<PodView> pods) {
    return pods.stream().map(PodView::name).collect(Collectors.toUnmodifiableSet());
  }
}
