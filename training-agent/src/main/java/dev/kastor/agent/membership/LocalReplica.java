package dev.kastor.agent.membership;

import dev.kastor.protocol.Membership;
import dev.kastor.protocol.ReplicaStart;
import dev.kastor.protocol.ReplicaState;
import dev.kastor.protocol.ReplicaState.Doing;
import dev.kastor.protocol.ReplicaState.Phase;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What this replica says of itself; written by the training thread, read by the poll. */
public final class LocalReplica {
  /** Name and versions of this agent. A class path of folders alone has no version. */
  private static final String CLIENT =
      "kastor-java/%s protocol/%d java/%s"
          .formatted(
              Objects.requireNonNullElse(
                  LocalReplica.class.getPackage().getImplementationVersion(), "dev"),
              Membership.PROTOCOL,
              Runtime.version().feature());

  private final String pod;
  private final String address;
  private volatile Standing standing = new Standing(0, Phase.STARTING);
  private volatile long step = -1;
  private volatile boolean waiting;
  private volatile Doing doing = Doing.TRAIN;
  private volatile @Nullable ReplicaStart start;

  /**
   * @param pod our pod's name
   * @param address {@code host:port} of our ring listener
   */
  public LocalReplica(String pod, String address) {
    this.pod = pod;
    this.address = address;
  }

  /** Our pod's name. */
  public String pod() {
    return pod;
  }

  /** Where we are. */
  public Standing standing() {
    return standing;
  }

  /** Says that we moved to another generation or phase. */
  public void moved(long generation, Phase phase) {
    standing = new Standing(generation, phase);
  }

  /** Says how far our state is. */
  public void stepped(long newStep) {
    step = newStep;
  }

  /** Says whether we wait for the other members. */
  public void waiting(boolean now) {
    waiting = now;
  }

  /** Says what we are busy with. */
  public void doing(Doing now) {
    doing = now;
  }

  /** Says how our start ended. */
  public void started(ReplicaStart how) {
    start = how;
  }

  /** All of it, for the operator. */
  public ReplicaState state() {
    Standing now = standing;
    return new ReplicaState(
        pod, address, now.generation(), now.phase(), step, waiting, doing, CLIENT, 0, start);
  }

  /** The generation we are in (0 before the first) and what we do. */
  public record Standing(long generation, Phase phase) {}
}
