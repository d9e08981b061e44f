package dev.kastor.simulator.bound;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalDouble;

/**
 * Schedule that keeps to the slots that there are, built from the prices of a lower bound: in each
 * time slot jobs take slots in the order of what these save of the seconds and prices to come (the
 * value functions of the relaxed problem), for each unit of their price. A job begins with the
 * first time slot after its arrival.
 */
final class PricedSchedule {
  /** A table of values for each kind of jobs: 256 MiB. */
  private static final long MOST_VALUES = 1 << 26;

  /** Price of a slot second that orders what is free of charge. */
  private static final double TINY = 1e-9;

  /** Time slots over those of the prices, after which a job is taken never to end. */
  private static final int MOST_TIMES = 4;

  private final Pools pools;
  private final double[][] price;
  private final int slots;
  private final double slotSeconds;
  private final double[] free;

  private PricedSchedule(Pools pools, double[][] price, double slotSeconds) {
    this.pools = pools;
    this.price = price;
    this.slotSeconds = slotSeconds;
    slots = price[0].length;
    free = new double[pools.count()];
  }

  /** Mean completion time; empty where it would take too much memory. */
  static OptionalDouble meanSeconds(
      List<Kind> kinds, Pools pools, double[][] price, double slotSeconds) {
    if (kinds.size() * (price[0].length + 1L) * Kind.VALUES > MOST_VALUES) {
      return OptionalDouble.empty();
    }
    return new PricedSchedule(pools, price, slotSeconds).mean(kinds);
  }

  private OptionalDouble mean(List<Kind> kinds) {
    List<Job> jobs = new ArrayList<>();
    for (Kind kind : kinds) {
      float[][] ahead = kind.ahead(price);
      kind.arrivals().forEach(arrival -> jobs.add(new Job(kind, ahead, arrival)));
    }
    jobs.sort(Comparator.comparingDouble(job -> job.arrival));
    double sum = 0;
    int arrived = 0;
    List<Job> present = new ArrayList<>();
    for (int t = 0; t < MOST_TIMES * slots; t++) {
      double now = t * slotSeconds;
      while (arrived < jobs.size() && jobs.get(arrived).arrival <= now) {
        present.add(jobs.get(arrived++));
      }
      share(present, t);
      for (Job job : present) {
        sum += job.advance(now);
      }
      present.removeIf(job -> Kind.done(job.place));
      if (present.isEmpty() && arrived == jobs.size()) {
        return OptionalDouble.of(sum / jobs.size());
      }
    }
    return OptionalDouble.empty();
  }

  private void share(List<Job> present, int t) {
    System.arraycopy(pools.capacity(), 0, free, 0, free.length);
    for (Job job : present) {
      job.begin(t);
      job.choose();
    }
    while (true) {
      Job best = null;
      for (Job job : present) {
        if (job.next >= 0 && (best == null || job.worth > best.worth)) {
          best = job;
        }
      }
      if (best == null) {
        return;
      }
      if (best.fits(best.next)) {
        best.take(t);
      }
      best.choose();
    }
  }

  /** A job with its place in its work and what it has in this time slot. */
  private final class Job {
    private static final int NONE = -1;

    private final Kind kind;
    private final float[][] ahead;
    private final double arrival;
    private final double[] saves;
    private final double[] costs;
    private final double[] held = new double[free.length];
    private double place;

    /** What it has, and what it would take next, as indices of the ways of its kind. */
    private int way = NONE;

    private int next = NONE;

    /** Seconds and prices that the next way saves more than the present one, by its price. */
    private double worth;

    Job(Kind kind, float[][] ahead, double arrival) {
      this.kind = kind;
      this.ahead = ahead;
      this.arrival = arrival;
      saves = new double[kind.ways().size()];
      costs = new double[kind.ways().size()];
    }

    void begin(int t) {
      way = NONE;
      Arrays.fill(held, 0);
      float[] then = ahead[Math.min(t + 1, slots)];
      double waiting = slotSeconds + Kind.at(then, place);
      for (int w = 0; w < saves.length; w++) {
        Way one = kind.ways().get(w);
        double busy = Math.min(slotSeconds, kind.left(w, place));
        saves[w] = waiting - busy - Kind.at(then, kind.after(w, place));
        costs[w] = TINY * one.slots() + (t < slots ? pools.cost(one, price, t) : 0);
      }
    }

    void choose() {
      double saved = way == NONE ? 0 : saves[way];
      double paid = way == NONE ? 0 : costs[way];
      next = NONE;
      worth = 0;
      for (int w = 0; w < saves.length; w++) {
        double more = saves[w] - saved;
        if (more > TINY && fits(w)) {
          double each = costs[w] > paid ? more / (costs[w] - paid) : Double.POSITIVE_INFINITY;
          if (next == NONE || each > worth) {
            next = w;
            worth = each;
          }
        }
      }
    }

    boolean fits(int w) {
      Way one = kind.ways().get(w);
      double room = 0;
      for (int pool = 0; pool < free.length; pool++) {
        if (one.pool() == pool || one.pool() == Way.ANY_POOL) {
          room += free[pool] + held[pool];
        }
      }
      return room >= one.slots();
    }

    void take(int t) {
      way = next;
      Way one = kind.ways().get(way);
      for (int pool = 0; pool < free.length; pool++) {
        free[pool] += held[pool];
        held[pool] = 0;
      }
      double left = one.slots();
      for (int pool : pools.cheapestFirst(price, Math.min(t, slots - 1))) {
        if (one.pool() == pool || one.pool() == Way.ANY_POOL) {
          held[pool] = Math.min(left, free[pool]);
          free[pool] -= held[pool];
          left -= held[pool];
        }
      }
    }

    /** Trains for a time slot; the seconds from its arrival to its end if that comes, else 0. */
    double advance(double now) {
      if (way == NONE) {
        return 0;
      }
      double left = kind.left(way, place);
      place = kind.after(way, place);
      return Kind.done(place) ? now + left - arrival : 0;
    }
  }
}
