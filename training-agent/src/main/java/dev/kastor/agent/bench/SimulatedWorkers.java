package dev.kastor.agent.bench;

import dev.kastor.agent.servers.Deals;
import dev.kastor.agent.servers.Message;
import dev.kastor.engine.train.ServerPlan;
import dev.kastor.protocol.BatchPlan;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.TreeSet;
import java.util.function.IntToLongFunction;

/**
 * Workers of parameter servers in simulated time. Which worker computes what is decided by {@link
 * Deals} as in a job; how long a share takes is said by the caller. Reading parameters, sending
 * gradients and the update itself take no time.
 *
 * <p>Not thread-safe.
 */
public final class SimulatedWorkers {
  /** Interval at which server 0 looks at a worker that may get a copy after some time. */
  private static final long COPY_CHECK_NANOS = 5_000_000;

  private static final BatchPlan BATCH = new BatchPlan(1, 0);

  /**
   * An update of the parameters.
   *
   * @param nanos when it was made, in simulated time
   * @param staleness updates between the reading of its parameters and this one; 0 in steps
   */
  public record Update(long nanos, long staleness) {}

  /** End of a worker's computation. */
  private record Event(long nanos, int rank, Message.Deal deal) {}

  private final IntToLongFunction shareNanos;
  private final Deals deals;
  private final NavigableSet<Integer> free = new TreeSet<>();
  private final PriorityQueue<Event> events =
      new PriorityQueue<>(Comparator.comparingLong(Event::nanos).thenComparingInt(Event::rank));
  private long now;
  private long updates;

  /**
   * Workers all of whom are free.
   *
   * @param shareNanos what the next share of a worker takes, by its rank; more than 0
   */
  public SimulatedWorkers(ServerPlan plan, int workers, IntToLongFunction shareNanos) {
    this.shareNanos = shareNanos;
    this.deals = new Deals(plan, workers, BATCH, 0, 0, () -> now);
    for (int rank = 0; rank < workers; rank++) {
      deals.joined(rank);
      free.add(rank);
    }
  }

  /** The next update. */
  public Update next() {
    while (true) {
      begin();
      Event event = events.element();
      if (deals.mayCopy() && !free.isEmpty() && event.nanos > now + COPY_CHECK_NANOS) {
        now += COPY_CHECK_NANOS;
        continue;
      }
      events.remove();
      now = event.nanos;
      boolean counts =
          deals.isWanted(event.rank, event.deal.share())
              && deals.came(event.rank, event.deal.share());
      free.add(event.rank);
      if (counts && deals.isComplete()) {
        deals.applied();
        return new Update(now, updates++ - event.deal.update());
      }
    }
  }

  /** Gives shares to workers that are free. */
  private void begin() {
    for (int rank : List.copyOf(free)) {
      Optional<Message.Deal> deal = deals.deal(rank);
      if (deal.isPresent()) {
        free.remove(rank);
        events.add(new Event(now + shareNanos.applyAsLong(rank), rank, deal.get()));
      }
    }
  }
}
