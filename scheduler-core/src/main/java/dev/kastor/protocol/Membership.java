package dev.kastor.protocol;

import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A generation: who trains together and with which batch; the answer to {@code GET
 * /v1/jobs/{namespace}/{name}/membership}.
 *
 * <p>Replicas in training switch to it at a step on which they agree; a listed replica without
 * state takes it from the others, or from a checkpoint when nobody has any; a replica in training
 * that is not listed leaves.
 *
 * @param generation grows with every change of members, batch or action
 * @param action what the members do
 * @param members in rank order; empty unless {@code action} is {@code RUN}
 * @param batchPlan the batch of each member; meaningful only for {@code RUN}
 * @param servers parameter servers by index; absent where the job has none. They are no members
 */
public record Membership(
    long generation,
    Action action,
    List<Member> members,
    BatchPlan batchPlan,
    @Nullable List<ParameterServer> servers) {
  /** Version of the agent API to which the records of this package belong. */
  public static final int PROTOCOL = 2;

  /** What a generation asks of the replicas. */
  public enum Action {
    /** Nothing yet: the caller keeps polling (a joiner whose turn has not come). */
    WAIT,
    /** Train. */
    RUN,
    /** Save a checkpoint at the agreed step, then exit. */
    STOP,
    /** The caller is not wanted (any more) and exits without saving. */
    LEAVE
  }

  public Membership {
    Check.atLeast("generation", generation, 0);
    members = List.copyOf(members);
    servers = servers == null || servers.isEmpty() ? null : List.copyOf(servers);
  }

  /** A membership without servers. */
  public Membership(long generation, Action action, List<Member> members, BatchPlan batchPlan) {
    this(generation, action, members, batchPlan, null);
  }

  /** Parameter servers by index; empty where there are none. */
  public List<ParameterServer> serversOrNone() {
    return servers == null ? List.of() : servers;
  }

  /** The same membership with the GPU types of its members' nodes. */
  public Membership onTypes(UnaryOperator<String> typeOfNode) {
    return new Membership(
        generation,
        action,
        members.stream()
            .map(member ->
                new Member(
                    member.pod(),
                    member.rank(),
                    member.address(),
                    member.node(),
                    typeOfNode.apply(member.node())))
            .toList(),
        batchPlan,
        servers);
  }
}
