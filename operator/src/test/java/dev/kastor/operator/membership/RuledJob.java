package dev.kastor.operator.membership;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.operator.pods.PodView;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Member;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.ParameterServer;
import dev.kastor.protocol.ReplicaState;
import dev.kastor.protocol.ReplicaState.Phase;
import dev.kastor.scheduler.model.AllowedReplicas;
import dev.kastor.scheduler.model.Elasticity;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A job whose pods and allocation a test moves, with the rules applied on request. */
final class RuledJob {
  private final Map<String, PodView> pods = new LinkedHashMap<>();
  private final Map<String, Replica> replicas = new LinkedHashMap<>();
  private final Set<String> unwanted = new HashSet<>();
  private final Set<String> leaving = new HashSet<>();
  private Elasticity elasticity = new Elasticity.Elastic(1, 8, new AllowedReplicas.Any());
  private Optional<BatchPlan> better = Optional.empty();
  private @Nullable Membership current;
  private Instant migrationSince = Instant.MAX;
  private Instant now = Instant.parse("2026-01-01T00:00:00Z");
  private Situation.Servers servers = Situation.Servers.NONE;
  private boolean full;
  private int target;
  private long number;

  RuledJob target(int replicas) {
    target = replicas;
    return this;
  }

  RuledJob elasticity(Elasticity limits) {
    elasticity = limits;
    return this;
  }

  /** So many parameter servers are to be there, and these listen, each at an address. */
  RuledJob servers(int wanted, Map<Integer, String> listening) {
    List<ParameterServer> there =
        listening.entrySet().stream()
            .sorted(Map.Entry.comparingByKey())
            .map(each ->
                new ParameterServer(each.getKey(), "server" + each.getKey(), "n1", each.getValue()))
            .toList();
    servers = new Situation.Servers(wanted, there);
    return this;
  }

  RuledJob pod(String name, String node) {
    pods.put(
        name,
        new PodView(
            name, number++, node, PodView.State.RUNNING, false, now, now, 0, Optional.empty()));
    return this;
  }

  RuledJob ready(String pod) {
    return says(pod, Phase.READY, 0);
  }

  RuledJob training(String pod) {
    return says(pod, Phase.TRAINING, generation());
  }

  RuledJob broken(String pod) {
    return says(pod, Phase.BROKEN, generation());
  }

  RuledJob unwanted(String pod) {
    unwanted.add(pod);
    return this;
  }

  RuledJob dies(String pod) {
    pods.remove(pod);
    replicas.remove(pod);
    return this;
  }

  /** Asked to end, as by an eviction; it goes on until it is told what to do, or is killed. */
  RuledJob evicted(String pod) {
    dies(pod);
    leaving.add(pod);
    return this;
  }

  void wait(int seconds) {
    now = now.plusSeconds(seconds);
  }

  void migrating() {
    migrationSince = now;
  }

  /** No more pods can be made until some have left. */
  RuledJob full(boolean now) {
    full = now;
    return this;
  }

  void better(BatchPlan plan) {
    better = Optional.of(plan);
  }

  /** These pods, and no others, train on node n1. */
  void running(String... names) {
    target = names.length;
    for (String name : names) {
      pod(name, "n1").ready(name);
    }
    publish();
    for (String name : names) {
      training(name);
    }
  }

  Optional<Membership> next() {
    return GenerationRules.next(situation());
  }

  Membership publish() {
    Membership next = next().orElseThrow();
    assertThat(next.generation()).isEqualTo(generation() + 1);
    current = next;
    return next;
  }

  long generation() {
    return current == null ? 0 : current.generation();
  }

  int target() {
    return target;
  }

  List<String> members() {
    return current == null ? List.of() : current.members().stream().map(Member::pod).toList();
  }

  List<String> live() {
    return List.copyOf(pods.keySet());
  }

  /** Live pods that are covered, oldest first, members before others. */
  List<PodView> wanted() {
    List<PodView> order = new ArrayList<>(pods.values());
    order.removeIf(pod -> unwanted.contains(pod.name()));
    order.sort(
        java.util.Comparator.comparing((PodView pod) -> !members().contains(pod.name()))
            .thenComparingLong(PodView::number));
    return order.subList(0, Math.min(target, order.size()));
  }

  Elasticity elasticity() {
    return elasticity;
  }

  boolean canJoin(String pod) {
    Replica replica = replicas.get(pod);
    return replica != null && replica.canJoin();
  }

  ReplicaState state(String pod) {
    return Objects.requireNonNull(replicas.get(pod)).state();
  }

  private RuledJob says(String pod, Phase phase, long generation) {
    var state = new ReplicaState(pod, "127.0.0.1:1", generation, phase, -1);
    Replica before = replicas.get(pod);
    replicas.put(pod, before == null ? Replica.first(state, now) : before.next(state, now));
    return this;
  }

  Situation situation() {
    return new Situation(
        target,
        elasticity,
        wanted(),
        Set.copyOf(pods.keySet()),
        leaving,
        replicas,
        servers,
        generation(),
        Optional.ofNullable(current),
        members -> new BatchPlan(32, 0),
        better,
        full,
        migrationSince,
        new Situation.Patience(Duration.ofSeconds(3), Duration.ofSeconds(30)),
        now);
  }
}
