package dev.kastor.agent.servers;

import dev.kastor.engine.train.ServerPlan;
import dev.kastor.protocol.BatchPlan;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * Dealing of shares of examples to the workers that ask.
 *
 * <p>Shares are consecutive examples with consecutive numbers, and each counts once: where several
 * workers compute copies of one, the first to come counts. A share whose workers are gone is dealt
 * again. In steps there are as many shares as a step has, and a worker that is free while none is
 * left may take a copy: one that took nothing in this step at once, as it is a backup worker, and
 * any other once it expects to be done before those that have the share. How long a worker takes is
 * what it took last time; one that is overdue is expected to take as long again as it is overdue.
 *
 * <p>Results depend on the calls and on the clock that it is given. Not thread-safe.
 */
public final class Deals {
  private static final int ENOUGH_BAD = 2;

  private final ServerPlan plan;
  private int workers;
  private int shares;
  private BatchPlan batch;
  private final LongSupplier nanos;

  /** Dealt and not come, in the order in which they were first dealt. */
  private final List<Share> out = new ArrayList<>();

  /** Given back by workers that could not compute them, by number. */
  private final List<Share> returned = new ArrayList<>();

  private final Map<Integer, Long> typicalNanos = new HashMap<>();

  /** Workers that compute copies of shares that have come, and since when. */
  private final Map<Integer, Long> uselessSince = new HashMap<>();

  private final Set<Integer> busyInStep = new HashSet<>();
  private final Set<Integer> connected = new HashSet<>();

  /**
   * Workers whose gradient was no number where another's was, and the updates before that share.
   */
  private final Map<Integer, Long> faulty = new HashMap<>();

  private long update;
  private long number;
  private long position;

  /** Position of the first example of the step. */
  private long begin;

  /** Shares that may be dealt before the next step; without meaning where there are no steps. */
  private int left;

  /** Shares that came and are not applied yet. */
  private int arrived;

  private boolean draining;
  private long dropped;

  /** Share with those who compute it. */
  private static final class Share {
    final long number;
    final long first;
    final BatchPlan batch;
    final Map<Integer, Hold> holders = new LinkedHashMap<>();
    final Set<Integer> bad = new HashSet<>();

    Share(long number, long first, BatchPlan batch) {
      this.number = number;
      this.first = first;
      this.batch = batch;
    }
  }

  /**
   * A worker's part in a share.
   *
   * @param update updates applied when it was dealt
   */
  private record Hold(long sinceNanos, long update) {}

  /**
   * Deals of a generation.
   *
   * @param workers of the generation
   * @param batch of a share
   * @param update updates applied so far
   * @param position of the next example
   * @param nanos clock
   */
  public Deals(
      ServerPlan plan,
      int workers,
      BatchPlan batch,
      long update,
      long position,
      LongSupplier nanos) {
    this.plan = plan;
    this.workers = workers;
    this.shares = plan.shares(workers);
    this.batch = batch;
    this.update = update;
    this.position = position;
    this.begin = position;
    this.nanos = nanos;
    this.left = shares;
  }

  /** Shares of an update. */
  public int shares() {
    return shares;
  }

  /** Number below which no share is missing. */
  public long below() {
    return Stream.concat(out.stream(), returned.stream())
        .mapToLong(each -> each.number)
        .min()
        .orElse(number);
  }

  /** Copies that came too late. */
  public long dropped() {
    return dropped;
  }

  /**
   * Updates before that share for which the gradient of a worker was no number, where another's
   * was; empty if there is none.
   */
  public OptionalLong faultyAt(int rank) {
    Long at = faulty.get(rank);
    return at == null ? OptionalLong.empty() : OptionalLong.of(at);
  }

  /** A worker is there. */
  public void joined(int rank) {
    connected.add(rank);
  }

  /** A worker is gone: what it had is dealt again. */
  public void lost(int rank) {
    connected.remove(rank);
    typicalNanos.remove(rank);
    uselessSince.remove(rank);
    release(rank);
  }

  /**
   * Another generation begins: ranks are those of other workers. Where there are steps, its first
   * one begins anew; else what is out is dealt again.
   */
  public void moved(int nextWorkers, BatchPlan next) {
    for (int rank : List.copyOf(connected)) {
      lost(rank);
    }
    returned.forEach(each -> each.bad.clear());
    faulty.clear();
    workers = nextWorkers;
    shares = plan.shares(workers);
    batch = next;
    if (!plan.asynchronous()) {
      restart();
    }
  }

  /** Deals the examples of the step once more. */
  public void restart() {
    position = begin;
    out.clear();
    returned.clear();
    uselessSince.clear();
    arrived = 0;
    left = shares;
    busyInStep.clear();
  }

  /** Workers that are there. */
  public int connected() {
    return connected.size();
  }

  private void release(int rank) {
    for (Share share : List.copyOf(out)) {
      if (share.holders.remove(rank) != null && share.holders.isEmpty()) {
        out.remove(share);
        returned.add(share);
        returned.sort(Comparator.comparingLong(each -> each.number));
      }
    }
  }

  /** A share for a worker that is free; empty if it has to wait. */
  public Optional<Message.Deal> deal(int rank) {
    release(rank);
    if (uselessSince.remove(rank) != null) {
      // It saw by itself that its copy came too late.
      dropped++;
    }
    Optional<Share> again = returned.stream().filter(each -> !each.bad.contains(rank)).findFirst();
    Share share;
    if (again.isPresent() && mayAdd()) {
      share = again.get();
      returned.remove(share);
      out.add(share);
    } else if (mayBegin()) {
      share = new Share(number++, position, batch);
      position += batch.globalBatchSize(1);
      left--;
      out.add(share);
    } else {
      Optional<Share> copy = copy(rank);
      if (copy.isEmpty()) {
        return Optional.empty();
      }
      share = copy.get();
    }
    busyInStep.add(rank);
    share.holders.put(rank, new Hold(nanos.getAsLong(), update));
    return Optional.of(
        new Message.Deal(
            update,
            share.number,
            share.first,
            share.batch.atomicBatchSize(),
            share.batch.accumulationSteps()));
  }

  private boolean mayBegin() {
    return plan.asynchronous() ? !draining && mayAdd() : left > 0;
  }

  /** Whether none gets too stale if one more share is computed. */
  private boolean mayAdd() {
    // All that are out, and one more, may still come before any of them.
    long oldest =
        out.stream()
            .flatMap(each -> each.holders.values().stream())
            .mapToLong(Hold::update)
            .min()
            .orElse(update);
    int most = plan.mostStaleness();
    return most == 0 || update - oldest + arrived + out.size() <= most;
  }

  private Optional<Share> copy(int rank) {
    if (!mayCopy()) {
      return Optional.empty();
    }
    boolean spare = !plan.asynchronous() && !busyInStep.contains(rank);
    long own = typicalNanos.getOrDefault(rank, 0L);
    return out.stream()
        .filter(each -> !each.bad.contains(rank))
        .filter(each -> spare || own < remaining(each))
        // Of equal ones the first that was dealt.
        .max(Comparator.comparingLong(this::remaining).thenComparingLong(each -> -each.number));
  }

  /** Whether a worker that has to wait may be given a copy after some time. */
  public boolean mayCopy() {
    return (plan.asynchronous() ? draining : plan.backup() > 0) && !out.isEmpty();
  }

  private long remaining(Share share) {
    long now = nanos.getAsLong();
    return share.holders.entrySet().stream()
        .mapToLong(each -> {
          long typical = typicalNanos.getOrDefault(each.getKey(), 0L);
          return Math.abs(each.getValue().sinceNanos + typical - now);
        })
        .min()
        .orElse(0);
  }

  private Optional<Share> held(int rank, long share) {
    return out.stream()
        .filter(each -> each.number == share && each.holders.containsKey(rank))
        .findFirst();
  }

  /** A worker computed a share: whether that is still wanted. */
  public boolean isWanted(int rank, long share) {
    Optional<Share> held = held(rank, share);
    held.ifPresent(each -> noteTime(rank, each));
    if (held.isEmpty()) {
      late(rank);
    }
    return held.isPresent();
  }

  private void late(int rank) {
    dropped++;
    Long since = uselessSince.remove(rank);
    if (since != null) {
      typicalNanos.put(rank, nanos.getAsLong() - since);
    }
  }

  private void noteTime(int rank, Share share) {
    Hold hold = share.holders.get(rank);
    if (hold != null) {
      typicalNanos.put(rank, nanos.getAsLong() - hold.sinceNanos);
    }
  }

  /**
   * A copy of a share arrived.
   *
   * @return whether it counts; it does not if another came first
   */
  public boolean came(int rank, long share) {
    Optional<Share> held = held(rank, share);
    if (held.isEmpty()) {
      late(rank);
      return false;
    }
    Share counted = held.get();
    out.remove(counted);
    counted.holders.forEach((other, hold) -> {
      if (other != rank) {
        uselessSince.put(other, hold.sinceNanos);
      }
    });
    counted.bad.forEach(each -> faulty.putIfAbsent(each, update));
    arrived++;
    return true;
  }

  /**
   * A worker's gradient of a share is not finite.
   *
   * @return whether there is no hope that another's will be: two agree, or the generation has no
   *     other; one that is not connected just now may come
   */
  public boolean spoiled(int rank, long share) {
    Optional<Share> held = held(rank, share);
    if (held.isEmpty()) {
      late(rank);
      return false;
    }
    Set<Integer> bad = held.get().bad;
    bad.add(rank);
    release(rank);
    return bad.size() >= Math.min(ENOUGH_BAD, workers);
  }

  /** Whether all shares of the step came. */
  public boolean isComplete() {
    return arrived == shares;
  }

  /** Begins with no more shares, until {@link #resume}. */
  public void drain() {
    draining = true;
  }

  /** Whether no share is missing before the position of the next. */
  public boolean isDrained() {
    return out.isEmpty() && returned.isEmpty() && arrived == 0;
  }

  /** Begins with shares again. */
  public void resume() {
    draining = false;
  }

  /**
   * An update of all shares that came in a step, or of one where there are no steps, is applied.
   */
  public void applied() {
    update++;
    arrived -= plan.asynchronous() ? 1 : shares;
    left = shares;
    begin = position;
    busyInStep.clear();
  }
}
