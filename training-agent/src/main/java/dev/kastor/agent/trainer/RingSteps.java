package dev.kastor.agent.trainer;

import dev.kastor.agent.membership.MembershipClient;
import dev.kastor.agent.ring.Ring;
import dev.kastor.agent.ring.RingBrokenException;
import dev.kastor.agent.ring.StepExchange;
import dev.kastor.protocol.BatchPlan;
import java.io.IOException;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Steps, or rounds of them, that the members of a ring compute together: each its own part, and
 * then all exchange what {@link Replica#apply} needs.
 */
final class RingSteps {
  private final Replica replica;
  private final Ear ear;

  RingSteps(Replica replica, Ear ear) {
    this.replica = replica;
    this.ear = ear;
  }

  /** Hears where we are within a step. */
  interface Ear {
    /** Whether we wait for the other members. */
    void waiting(boolean now);

    /** Steps in our state, with those of a round in progress. */
    void stepped(long steps);

    /** One that tells the operator. */
    static Ear of(MembershipClient memberships) {
      return new Ear() {
        @Override
        public void waiting(boolean now) {
          memberships.waiting(now);
        }

        @Override
        public void stepped(long steps) {
          memberships.stepped(steps);
        }
      };
    }
  }

  /** What tells of the newest generation that we know and are ready to switch to. */
  @FunctionalInterface
  interface Newest {
    long generation() throws IOException;
  }

  /**
   * Step or round whose vectors are summed over all members, to be applied.
   *
   * @param all headers of all members, in rank order
   * @param known the generation that ours tells of
   * @param steps that it has
   * @param exchange to be committed once it is applied
   * @param seconds from its start to the end of the exchange
   */
  record Exchanged(
      List<StepHeader> all, long known, int steps, StepExchange exchange, double seconds) {
    /** What each member's passes gave. */
    List<LocalStep> locals() {
      return all.stream().map(StepHeader::local).toList();
    }

    /** Mean time of a pass of the slowest member. */
    double passSeconds() {
      return all.stream().mapToDouble(each -> each.local().passSeconds()).max().orElse(0);
    }
  }

  /**
   * Computes and exchanges the next one.
   *
   * @param newest asked before a step, and at the end of a round, which may have taken long
   * @param compares whether this member, as rank 0, asks for a comparison of the states before the
   *     step
   * @throws RingBrokenException if another member did not: nothing has changed then
   */
  Exchanged take(
      Ring ring,
      Exchanges.OfGeneration exchanges,
      BatchPlan plan,
      Newest newest,
      BooleanSupplier compares)
      throws IOException {
    int size = ring.size();
    boolean local = replica.isLocal(size);
    long known = local ? 0 : newest.generation();
    int steps = replica.steps(plan, size);
    long start = System.nanoTime();
    replica.select(plan, size, ring.rank(), own -> gathered(ring, own));
    LocalStep own;
    StepExchange exchange = exchanges.begin();
    try (exchange) {
      own = replica.compute(plan, size, ring.rank(), listener(exchange));
      if (local) {
        known = newest.generation();
      }
      ear.waiting(true);
      exchange.finish();
    }
    StepHeader header = new StepHeader(replica.step(), known, compares.getAsBoolean(), own);
    List<StepHeader> all = StepHeader.decodeAll(ring.allGather(header.encode()), replica.step());
    ring.allReduce(replica.batchStatistics());
    ring.allReduce(replica.probe());
    for (float[] slot : replica.slots(size)) {
      exchanges.sum(slot);
    }
    ear.waiting(false);
    return new Exchanged(all, known, steps, exchange, (System.nanoTime() - start) * 1e-9);
  }

  private Replica.Listener listener(StepExchange exchange) {
    return new Replica.Listener() {
      @Override
      public void ready(int from) {
        exchange.ready(from);
      }

      @Override
      public void stepped(long steps) {
        ear.stepped(steps);
      }
    };
  }

  private List<byte[]> gathered(Ring ring, byte[] own) throws RingBrokenException {
    ear.waiting(true);
    List<byte[]> all = ring.allGather(own, own.length);
    ear.waiting(false);
    return all;
  }
}
