package dev.kastor.operator.membership;

import dev.kastor.operator.pods.PodView;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Member;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.ParameterServer;
import dev.kastor.protocol.ReplicaState;
import dev.kastor.scheduler.model.Elasticity;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * All that decides on the next generation of a job.
 *
 * @param target replicas that the scheduler gave; 0 to stop
 * @param elasticity which sizes the job can train with
 * @param wanted live pods that the allocation covers
 * @param live names of all live pods
 * @param leaving names of pods that were asked to end and have not yet
 * @param replicas what pods said, by pod
 * @param servers parameter servers that the job is to have and has
 * @param generation newest generation ever published
 * @param current newest membership; empty before the first
 * @param batches the batch for a number of nodes and replicas
 * @param betterBatch a batch that is enough better than the current one to change to
 * @param full whether pods of the target can be made only when others of the job are gone
 * @param migrationSince since when the target has had nothing in common with the members, and room
 *     for it has been waited for
 * @param patience how long members wait for each other
 * @param now the present
 */
public record Situation(
    int target,
    Elasticity elasticity,
    List<PodView> wanted,
    Set<String> live,
    Set<String> leaving,
    Map<String, Replica> replicas,
    Servers servers,
    long generation,
    Optional<Membership> current,
    Function<List<PodView>, BatchPlan> batches,
    Optional<BatchPlan> betterBatch,
    boolean full,
    Instant migrationSince,
    Patience patience,
    Instant now) {
  /**
   * How long to wait.
   *
   * @param broken for members whose ring broke until silent ones are left out
   * @param migration for slots on other nodes until the job stops and starts again
   */
  public record Patience(Duration broken, Duration migration) {}

  /**
   * Parameter servers.
   *
   * @param wanted how many the job trains with, 0 if its replicas have the parameters
   * @param there those that listen, by index
   */
  public record Servers(int wanted, List<ParameterServer> there) {
    /** Those of a job whose replicas have the parameters. */
    public static final Servers NONE = new Servers(0, List.of());

    public Servers {
      there = List.copyOf(there);
    }

    /** Whether the job trains with any. */
    boolean used() {
      return wanted > 0;
    }

    /** Whether all of them listen: nobody can train before. */
    boolean complete() {
      return there.size() == wanted;
    }

    /** Whether a generation has others than those that listen now, or knows another address. */
    boolean differ(Membership generation) {
      return !generation.serversOrNone().equals(there);
    }
  }

  public Situation {
    wanted = List.copyOf(wanted);
    live = Set.copyOf(live);
    leaving = Set.copyOf(leaving);
    replicas = Map.copyOf(replicas);
  }

  /** Whether nobody trains, nobody is to, and no pod is left that could. */
  boolean rests() {
    return live.isEmpty() && wanted.isEmpty() && current.isEmpty();
  }

  /** Whether exactly those train who are to, and all of them say so. */
  boolean settled() {
    if (current.isEmpty() || target != current.get().members().size()) {
      return false;
    }
    Set<String> members =
        current.get().members().stream().map(Member::pod).collect(Collectors.toUnmodifiableSet());
    return migrationSince.equals(Instant.MAX)
        && !servers.differ(current.get())
        && live.equals(members)
        && members.stream().allMatch(this::trains);
  }

  private boolean trains(String pod) {
    Replica replica = replicas.get(pod);
    return replica != null
        && replica.state().generation() == generation
        && replica.state().phase() == ReplicaState.Phase.TRAINING;
  }
}
