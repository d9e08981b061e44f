package dev.kastor.agent.trainer;

import dev.kastor.agent.operator.WireJson;
import dev.kastor.agent.servers.Deals;
import dev.kastor.agent.servers.Message;
import dev.kastor.engine.train.ServerPlan;
import dev.kastor.engine.train.Trainable;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Outcome;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Place where the workers' threads of server 0 meet its training thread: they take shares and leave
 * results, it takes results that make an update.
 *
 * <p>Thread-safe.
 */
final class Desk {
  /** How often a worker that waits is looked at, where it may get a copy after some time. */
  private static final long COPY_CHECK_MILLIS = 5;

  /** Interval at which an evaluation that waits for a worker checks whether one can still come. */
  private static final long OVER_CHECK_MILLIS = 100;

  private final ServerPlan plan;
  private final Deals deals;

  /** Results that count and are not applied, in the order in which they came. */
  private final Deque<Arrived> arrived = new ArrayDeque<>();

  private final Map<Integer, BatchPlan> dealt = new HashMap<>();

  /** Workers that wait for a share, or were told the last word and are still there. */
  private final Set<Integer> waiting = new HashSet<>();

  private int open;
  private boolean hopeless;
  private boolean draining;
  private boolean evaluate;
  private int evaluating = -1;
  private Trainable.@Nullable Metric evaluated;

  /** What all workers are told instead of a share. */
  private @Nullable Message last;

  /** Desk of a process that goes on from here. */
  Desk(
      ServerPlan plan,
      int workers,
      BatchPlan batch,
      long update,
      long position,
      LongSupplier nanos) {
    this.plan = plan;
    this.deals = new Deals(plan, workers, batch, update, position, nanos);
  }

  /**
   * Share that counts.
   *
   * @param read updates of the parameters from which it was computed
   * @param statistics batch statistics
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Arrived(
      long share,
      int rank,
      BatchPlan batch,
      long read,
      Message.Passed passed,
      float[] statistics) {}

  /** Another generation begins. */
  synchronized void moved(int workers, BatchPlan batch) {
    deals.moved(workers, batch);
    if (!plan.asynchronous()) {
      arrived.clear();
    }
    last = null;
    hopeless = false;
    waiting.clear();
    dealt.clear();
    evaluating = -1;
    notifyAll();
  }

  synchronized void joined(int rank) {
    deals.joined(rank);
    open++;
    notifyAll();
  }

  synchronized void lost(int rank) {
    deals.lost(rank);
    waiting.remove(rank);
    open--;
    if (evaluating == rank) {
      evaluating = -1;
    }
    notifyAll();
  }

  /** What a worker that is free is told; waits until there is something. */
  synchronized Message next(int rank) throws InterruptedException {
    waiting.add(rank);
    notifyAll();
    try {
      while (true) {
        if (last != null) {
          return last;
        }
        OptionalLong faulty = deals.faultyAt(rank);
        if (faulty.isPresent()) {
          return new Message.End(notFinite(faulty.getAsLong()));
        }
        if (evaluate && evaluating < 0) {
          evaluating = rank;
          return new Message.Evaluate();
        }
        Optional<Message.Deal> deal = deals.deal(rank);
        if (deal.isPresent()) {
          Message.Deal share = deal.get();
          dealt.put(rank, new BatchPlan(share.atomicBatchSize(), share.accumulationSteps()));
          return share;
        }
        wait(deals.mayCopy() ? COPY_CHECK_MILLIS : 0);
      }
    } finally {
      if (last == null) {
        waiting.remove(rank);
      }
    }
  }

  private static String notFinite(long step) {
    String message =
        ("the gradient of this worker is not finite at step %d; another worker's is, for the same"
                + " examples. The others go on without this one. If workers fail so again and again,"
                + " look at the examples that they read, or at their device.")
            .formatted(step);
    Outcome outcome = new Outcome(Outcome.Kind.FAILED, null, null, null, 0, message);
    return new String(WireJson.write(outcome), StandardCharsets.UTF_8);
  }

  /** Whether a share that a worker computed is still wanted. */
  synchronized boolean isWanted(int rank, long share) {
    return deals.isWanted(rank, share);
  }

  /**
   * A worker pushed a share; where updates are asynchronous, waits until it is applied, so that no
   * more results are kept than there are workers. While a worker is wanted that evaluates, it may
   * be this one.
   */
  synchronized void came(int rank, Message.Push push, float[] statistics)
      throws InterruptedException {
    BatchPlan batch = dealt.get(rank);
    if (batch == null) {
      return;
    }
    if (!push.passed().finite()) {
      hopeless |= deals.spoiled(rank, push.share());
    } else if (deals.came(rank, push.share())) {
      Arrived result =
          new Arrived(push.share(), rank, batch, push.read(), push.passed(), statistics);
      arrived.add(result);
      notifyAll();
      while (plan.asynchronous()
          && last == null
          && !(evaluate && evaluating < 0)
          && arrived.contains(result)) {
        wait();
      }
    }
    notifyAll();
  }

  /**
   * Waits for the results of the next update, in the order of their shares.
   *
   * @return empty when time is up, or where nothing will come as all that was asked for is drained
   */
  synchronized List<Arrived> await(Duration limit) throws InterruptedException, DivergedException {
    long end = System.nanoTime() + limit.toNanos();
    while (true) {
      if (hopeless) {
        throw new DivergedException(
            "training diverged: the gradient is not finite, whoever computes it. Lower learningRate.base.");
      }
      if (plan.asynchronous() ? !arrived.isEmpty() : deals.isComplete()) {
        List<Arrived> results =
            new ArrayList<>(plan.asynchronous() ? List.of(arrived.getFirst()) : arrived);
        results.sort(Comparator.comparingLong(Arrived::share));
        return results;
      }
      long leftMillis = (end - System.nanoTime()) / 1_000_000;
      if (leftMillis <= 0 || (draining && deals.isDrained())) {
        return List.of();
      }
      wait(leftMillis);
    }
  }

  /** Begins with no more shares, until {@link #resume}; without meaning where there are steps. */
  synchronized void drain() {
    draining = plan.asynchronous();
    deals.drain();
    notifyAll();
  }

  /** Whether the examples that are applied are all that were dealt. */
  synchronized boolean isDrained() {
    return deals.isDrained() && arrived.isEmpty();
  }

  /** Begins with shares again. */
  synchronized void resume() {
    draining = false;
    deals.resume();
    notifyAll();
  }

  /** Number of the share below which none will count, once these are applied. */
  synchronized long below(List<Arrived> applied) {
    return arrived.stream()
        .filter(each -> !applied.contains(each))
        .mapToLong(Arrived::share)
        .reduce(deals.below(), Math::min);
  }

  /** The results of {@link #await} are applied. */
  synchronized void applied(List<Arrived> results) {
    arrived.removeAll(results);
    deals.applied();
    notifyAll();
  }

  /** The results of {@link #await} are computed once more. */
  synchronized void restart() {
    arrived.clear();
    deals.restart();
    notifyAll();
  }

  /** Copies that came too late. */
  synchronized long dropped() {
    return deals.dropped();
  }

  /** Workers that are there. */
  synchronized int connected() {
    return deals.connected();
  }

  /**
   * Lets a worker evaluate.
   *
   * @param patience time to wait for one to come, where there is none
   * @param over whether none will come any more
   * @return empty if none came
   */
  synchronized Optional<Trainable.Metric> evaluate(Duration patience, BooleanSupplier over)
      throws InterruptedException {
    evaluate = true;
    evaluated = null;
    notifyAll();
    try {
      long alone = System.nanoTime();
      while (evaluated == null) {
        long leftMillis = patience.minusNanos(System.nanoTime() - alone).toMillis();
        if (deals.connected() > 0) {
          wait();
          alone = System.nanoTime();
        } else if (leftMillis > 0 && !over.getAsBoolean()) {
          wait(Math.min(leftMillis, OVER_CHECK_MILLIS));
        } else {
          break;
        }
      }
      return Optional.ofNullable(evaluated);
    } finally {
      evaluate = false;
      evaluating = -1;
    }
  }

  /** A worker evaluated. */
  synchronized void evaluated(int rank, Trainable.Metric metric) {
    if (evaluating == rank) {
      evaluated = metric;
      notifyAll();
    }
  }

  /** Whoever still waits goes away. */
  synchronized void release() {
    if (last == null) {
      last = new Message.Move();
    }
    notifyAll();
  }

  /**
   * From now on tells this to all workers that ask, and waits for them to.
   *
   * @param all whether to wait for those that compute, too
   */
  synchronized void tell(Message word, boolean all, Duration limit) throws InterruptedException {
    last = word;
    notifyAll();
    long end = System.nanoTime() + limit.toNanos();
    while (all ? open > 0 : !waiting.isEmpty()) {
      long leftMillis = (end - System.nanoTime()) / 1_000_000;
      if (leftMillis <= 0) {
        return;
      }
      wait(leftMillis);
    }
  }
}
