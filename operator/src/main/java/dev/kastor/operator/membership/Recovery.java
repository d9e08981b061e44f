package dev.kastor.operator.membership;

import dev.kastor.operator.pods.PodView;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Member;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.Membership.Action;
import dev.kastor.protocol.ParameterServer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Works out who trains from what replicas say to an operator that has just started. */
final class Recovery {
  private Recovery() {}

  /** Whether every replica that can speak has spoken. */
  static boolean allHeard(List<PodView> live, Map<String, Replica> replicas) {
    return live.stream()
        .filter(pod -> pod.state() == PodView.State.RUNNING)
        .allMatch(pod -> replicas.containsKey(pod.name()));
  }

  /**
   * The membership that trains now; empty if nothing trains or if the replicas disagree on the
   * generation, in which case the next generation brings them together.
   *
   * <p>The ranks may differ from the published ones. That is harmless: this membership is only
   * compared with, and sent to nobody, for nobody in it asks for its own generation.
   *
   * @param servers parameter servers that listen
   */
  static Optional<Membership> membership(
      List<PodView> live,
      Map<String, Replica> replicas,
      BatchPlan batch,
      List<ParameterServer> servers) {
    List<Member> members = new ArrayList<>();
    long generation = 0;
    List<PodView> ordered =
        live.stream().sorted(Comparator.comparingLong(PodView::number)).toList();
    for (PodView pod : ordered) {
      Replica replica = replicas.get(pod.name());
      if (replica == null || !replica.trained()) {
        continue;
      }
      if (generation != 0 && replica.state().generation() != generation) {
        return Optional.empty();
      }
      generation = replica.state().generation();
      members.add(new Member(pod.name(), members.size(), replica.state().address(), pod.node()));
    }
    long found = generation;
    List<ParameterServer> trained =
        servers.stream()
            .filter(server -> {
              Replica replica = replicas.get(server.pod());
              return replica != null && replica.state().generation() == found;
            })
            .toList();
    return members.isEmpty()
        ? Optional.empty()
        : Optional.of(new Membership(found, Action.RUN, members, batch, trained));
  }
}
