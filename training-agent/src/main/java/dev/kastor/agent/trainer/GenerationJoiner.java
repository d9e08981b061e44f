package dev.kastor.agent.trainer;

import dev.kastor.agent.ring.Ring;
import dev.kastor.agent.ring.RingBrokenException;
import dev.kastor.agent.ring.RingLimits;
import dev.kastor.agent.ring.RingListener;
import dev.kastor.agent.ring.StateTransfer;
import dev.kastor.engine.checkpoint.CheckpointStore;
import dev.kastor.engine.checkpoint.StateCodec;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.ReplicaStart.Source;
import dev.kastor.protocol.Switch;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings this replica into a generation: the ring, then the same state on all members.
 *
 * <p>The members compare what they have. Whoever has the best state sends it to those that have
 * another or none; where nobody has any, all take the newest checkpoint that rank 0 can read, or
 * the parameters of another job that the spec names, or start fresh. They compare again until all
 * are the same.
 */
final class GenerationJoiner {
  private static final Logger log = LoggerFactory.getLogger(GenerationJoiner.class);
  private static final int MOST_ROUNDS = 5;
  private static final int MOST_DONORS = 8;
  private static final long NO_CHECKPOINT = -1;

  private final String job;
  private final RingListener listener;
  private final RingLimits limits;
  private final Replica replica;
  private final History history;
  private final Checkpoints checkpoints;
  private final Comparison comparison;
  private final Beginning beginning;

  GenerationJoiner(
      Surroundings around,
      Replica replica,
      History history,
      Checkpoints checkpoints,
      Comparison comparison) {
    this.job = around.job();
    this.listener = around.listener();
    this.limits = around.limits();
    this.replica = replica;
    this.history = history;
    this.checkpoints = checkpoints;
    this.comparison = comparison;
    this.beginning = new Beginning(job, replica, checkpoints, around.warmStart());
  }

  /** A ring whose members all hold the same state, and the change as it is to be reported. */
  record Joined(Ring ring, Switch change) {}

  /** Lets members of a generation in that we are going to join, as they may be there before us. */
  void expect(Membership membership) throws RingBrokenException {
    listener.expect(Addresses.members(membership));
  }

  /**
   * Joins.
   *
   * @param abandoned polled while waiting for others; true gives up
   * @throws RingBrokenException if the members did not come together; the next try may work
   * @throws DriftException if members differ that should not, and that is not repaired
   * @throws IOException if this replica cannot use its checkpoints or the others' state
   */
  Joined join(Membership membership, int rank, BooleanSupplier abandoned) throws IOException {
    long generation = membership.generation();
    listener.refuseBelow(generation);
    List<InetSocketAddress> addresses = Addresses.members(membership);
    Ring ring = Ring.open(listener, generation, rank, addresses, limits, abandoned);
    try {
      return new Joined(ring, agree(ring, addresses, abandoned));
    } catch (IOException | RuntimeException e) {
      ring.close();
      throw e;
    }
  }

  /**
   * Compares the states of a generation's members after a step that all have applied, and makes
   * them equal if they are not. All members come here at the same step.
   *
   * @return whether our state may have changed: a step that was computed is to be taken again
   * @throws RingBrokenException if a member did not come
   * @throws DriftException if members differ and that is not repaired
   */
  boolean compare(Ring ring, Membership membership, BooleanSupplier abandoned) throws IOException {
    agree(ring, Addresses.members(membership), abandoned);
    return comparison.differences() > 0;
  }

  /** Members compare and share until all have the same state. */
  private Switch agree(Ring ring, List<InetSocketAddress> addresses, BooleanSupplier abandoned)
      throws IOException {
    long generation = ring.generation();
    int rank = ring.rank();
    StateTransfer transfer =
        new StateTransfer(listener, generation, rank, addresses, limits, abandoned);
    for (int round = 0; round < MOST_ROUNDS; round++) {
      long began = System.nanoTime();
      byte[] own = history.header(replica, comparison.differences()).encode();
      comparison.took(System.nanoTime() - began);
      List<JoinHeader> all = JoinHeader.decodeAll(ring.allGather(own));
      long gathered = System.nanoTime();
      JoinHeader best = JoinHeader.best(all);
      List<Integer> donors = new ArrayList<>();
      List<Integer> receivers = new ArrayList<>();
      for (int each = 0; each < all.size(); each++) {
        (all.get(each).sameStateAs(best) ? donors : receivers).add(each);
      }
      if (JoinHeader.isDrift(all)) {
        comparison.differ(ring, replica, all);
      } else if (round == 0) {
        comparison.agreed();
      }
      if (receivers.isEmpty()) {
        history.agreed(generation);
        comparison.compared(replica.step(), gathered);
        return plus(JoinHeader.report(all, generation), gathered);
      }
      boolean first = !replica.hasState();
      Source source = Source.PEERS;
      long before = System.nanoTime();
      if (donors.isEmpty()) {
        source = start(ring);
      } else {
        share(transfer, rank, best.step(), donors, receivers);
      }
      if (first && replica.hasState()) {
        history.began(source, System.nanoTime() - before);
      }
    }
    throw new RingBrokenException("members still differ after %d rounds".formatted(MOST_ROUNDS));
  }

  /** Nobody has a state: rank 0 says which checkpoint it is to be. Says where ours came from. */
  private Source start(Ring ring) throws IOException {
    long own = NO_CHECKPOINT;
    Optional<CheckpointStore.Loaded> newest = Optional.empty();
    if (ring.rank() == 0) {
      newest = beginning.newest();
      own = newest.map(CheckpointStore.Loaded::step).orElse(NO_CHECKPOINT);
    }
    byte[] said = ring.allGather(ByteBuffer.allocate(Long.BYTES).putLong(own).array()).getFirst();
    if (said.length != Long.BYTES) {
      throw new RingBrokenException("rank 0 names no checkpoint");
    }
    long step = ByteBuffer.wrap(said).getLong();
    if (step == NO_CHECKPOINT) {
      replica.startFresh();
      log.info("{}: starts from the initial parameters", job);
    } else if (newest.isPresent()) {
      replica.restore(newest.get().state());
      log.info("{}: starts from the checkpoint of step {}", job, step);
    } else {
      try {
        replica.restore(checkpoints.load(step));
      } catch (IOException e) {
        log.warn("{}: takes the state from rank 0: {}", job, e.getMessage());
        return Source.PEERS;
      }
    }
    history.startedAlone();
    return step == NO_CHECKPOINT ? Source.INITIAL : Source.CHECKPOINT;
  }

  private void share(
      StateTransfer transfer, int rank, long step, List<Integer> holders, List<Integer> receivers)
      throws IOException {
    // More senders than these no longer fill a receiver's link any better.
    List<Integer> donors = holders.subList(0, Math.min(MOST_DONORS, holders.size()));
    try (Arena arena = Arena.ofShared()) {
      if (donors.contains(rank)) {
        log.info("{}: sends step {} to ranks {}", job, step, receivers);
        transfer.send(StateCodec.encode(replica.state(), arena), donors, receivers);
      } else if (receivers.contains(rank)) {
        long bytes = StateCodec.encodedBytes(replica.state().forms());
        replica.restore(StateCodec.decode(transfer.receive(bytes, donors, arena)));
        history.startedAlone();
        log.info("{}: received step {} from ranks {}", job, replica.step(), donors);
      }
    }
  }

  private static Switch plus(Switch change, long sinceNanos) {
    return new Switch(
        change.generation(),
        change.replicasBefore(),
        change.replicasAfter(),
        change.cause(),
        change.pauseSeconds() + (System.nanoTime() - sinceNanos) * 1e-9);
  }
}
