package dev.kastor.operator.usage;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.operator.mapping.StoredHistory;
import dev.kastor.protocol.Switch;
import dev.kastor.scheduler.model.AllocationHistory;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Meter of the slots that one job holds.
 *
 * <p>From one event to the next every slot counts as one thing: one that does not train as what it
 * is waited for, one that trains as useful and inefficient in the ratio measured last. So the parts
 * are what was held, whatever is measured. All methods lock the object.
 */
final class JobMeter {
  /** Most days of queues of one job; of a longer one the first are added up. */
  static final int MOST_DAYS = 45;

  private static final double MILLI = 1000;

  private final CostMeter cost;
  private final SortedMap<QueueDay, Usage> days = new TreeMap<>();
  private long at;

  /** Whether another allocation is being stored. */
  private boolean stopped;

  private long version;
  private int slots;
  private int slotsPerReplica = 1;
  private String queue = "";

  /** Slots whose replicas train. */
  private int training;

  /** What the slots count as that are held and do not train. */
  private Usage.Kind missing = Usage.Kind.STARTING;

  /** The same before the job was taken to train as a whole, until its first report says so. */
  private Usage.@Nullable Kind missingBefore;

  private boolean reported;
  private double progress;
  private double furthest;

  /** Useful part of training, in [0, 1]; not a number while that is not known. */
  private double share = Double.NaN;

  /** Slot-milliseconds of pauses that were reported and are not yet taken from training. */
  private long rescalePauses;

  private long failurePauses;

  /** A meter of a job as its status has it. */
  JobMeter(TrainingJob job, SlotPrices prices, Instant now) {
    cost = new CostMeter(prices);
    TrainingJobStatus status = job.getStatus();
    AllocationStatus allocation = status == null ? null : status.allocation();
    follow(allocation);
    at = now.toEpochMilli();
    restore(status, StoredHistory.of(allocation));
    if (status != null && status.phase() == Phase.Running) {
      training = slots;
    }
  }

  /** What is missing of what the allocations tell was held, no operator saw. */
  private void restore(@Nullable TrainingJobStatus status, AllocationHistory history) {
    long held = Math.round(MILLI * history.attainedService(Instant.ofEpochMilli(at)));
    String text = status == null ? null : status.usage();
    UsageText stored = text == null ? null : UsageText.read(text).orElse(null);
    long known = stored == null ? 0 : sum(stored.days());
    boolean trusted = stored != null && known <= held;
    if (stored != null && trusted) {
      days.putAll(stored.days());
      furthest = stored.furthest();
      missing = stored.missing();
    } else {
      known = 0;
    }
    long since = history.since().map(Instant::toEpochMilli).orElse(at);
    long end = slots == 0 ? Math.min(at, since) : at;
    long begin = Math.min(end, stored == null ? since : stored.at());
    // Where nothing is stored, nobody knows on which nodes it was held.
    spread(begin, end, held - known, trusted && slots > 0);
  }

  /**
   * Puts slot-milliseconds that no operator saw evenly on the days between.
   *
   * @param here whether they were held where the job is now
   */
  private void spread(long begin, long end, long unknown, boolean here) {
    long left = unknown;
    long from = begin;
    while (left > 0) {
      long to = Math.min(end, nextDay(from));
      long part = to >= end ? left : Math.round((double) left * (to - from) / (end - from));
      put(from, Usage.of(Usage.Kind.UNKNOWN, part));
      if (here) {
        put(from, Usage.NONE.costing(cost.of((double) part / slots)));
      }
      left -= part;
      from = to;
    }
  }

  /** Whether an allocation is newer than what this meter knows of. */
  synchronized boolean isBehind(@Nullable AllocationStatus allocation) {
    return allocation != null && allocation.version() > version;
  }

  /**
   * Stops the meter until another allocation is stored: whatever is heard meanwhile, the time from
   * here on counts for that one.
   *
   * @return the time up to which it has counted
   */
  synchronized Instant stop(Instant now) {
    advance(now);
    stopped = true;
    return Instant.ofEpochMilli(at);
  }

  /** An allocation of this version is about to be stored. */
  synchronized void deciding(long next) {
    version = next;
  }

  /** The allocation that holds from now on; that of before if no other could be stored. */
  synchronized void decided(@Nullable AllocationStatus allocation) {
    stopped = false;
    boolean had = slots > 0;
    boolean whole = missing == Usage.Kind.FAILURES;
    long before = version;
    follow(allocation);
    training = Math.min(training, slots);
    if (version == before) {
      missingBefore = null;
    }
    if (!had) {
      missing = Usage.Kind.STARTING;
    } else if (whole && version == before) {
      missing = Usage.Kind.RESCALING;
    }
  }

  private void follow(@Nullable AllocationStatus allocation) {
    version = allocation == null ? 0 : allocation.version();
    slots = allocation == null ? 0 : Math.max(0, allocation.slots());
    Integer each = allocation == null ? null : allocation.slotsPerReplica();
    slotsPerReplica = each == null ? 1 : Math.max(1, each);
    String of = allocation == null ? null : allocation.queue();
    queue = of == null ? "" : of;
    cost.follow(
        allocation == null || allocation.nodes() == null ? Map.of() : allocation.nodes(),
        slotsPerReplica);
  }

  /** Prices of nodes have changed: from now on the job's nodes cost what they tell now. */
  synchronized void repriced(Instant now) {
    advance(now);
    cost.reprice();
  }

  /**
   * A report of the replicas that train.
   *
   * @param whole whether they are all of the present allocation
   */
  synchronized void reported(int replicas, double steps, boolean whole, Instant now) {
    advance(now);
    if (missingBefore != null) {
      missing = missingBefore;
      missingBefore = null;
    }
    reported = true;
    training = Math.clamp((long) replicas * slotsPerReplica, 0, slots);
    if (whole) {
      missing = Usage.Kind.FAILURES;
    }
    progress = steps;
    furthest = Math.max(furthest, steps);
  }

  /** A pause that replicas lived; one before the first step is time in which nobody trained. */
  synchronized void paused(Switch lived) {
    long millis = Math.round(MILLI * lived.pauseSeconds()) * training;
    switch (lived.cause()) {
      case RESCALE -> rescalePauses += millis;
      case FAILURE -> failurePauses += millis;
      case START -> {}
    }
  }

  /** Useful part of training, in [0, 1]; not a number where nobody knows. */
  synchronized void measured(double useful, Instant now) {
    advance(now);
    share = useful;
  }

  /** The job entered a phase. */
  synchronized void entered(Phase phase, Instant now) {
    advance(now);
    if (phase != Phase.Running) {
      training = 0;
    } else if (!reported && training < slots) {
      // Most that report nothing train as a whole or not at all.
      training = slots;
      missingBefore = missing;
      missing = Usage.Kind.FAILURES;
    }
  }

  /** The days up to now. */
  synchronized SortedMap<QueueDay, Usage> days(Instant now) {
    advance(now);
    return new TreeMap<>(days);
  }

  /** The text for the job's status. */
  synchronized String text(Instant now) {
    advance(now);
    return new UsageText(at, furthest, missing, days).text();
  }

  private void advance(Instant now) {
    if (stopped) {
      return;
    }
    long until = now.toEpochMilli();
    while (at < until) {
      long to = Math.min(until, nextDay(at));
      if (slots > 0) {
        count(to - at);
      }
      put(at, Usage.NONE.costing(cost.of((double) (to - at))));
      at = to;
    }
  }

  private void count(long millis) {
    int active = Math.min(training, slots);
    put(at, Usage.of(missing, millis * (slots - active)));
    long trained = millis * active;
    long paused = Math.min(trained, rescalePauses);
    rescalePauses -= paused;
    put(at, Usage.of(Usage.Kind.RESCALING, paused));
    trained -= paused;
    paused = Math.min(trained, failurePauses);
    failurePauses -= paused;
    put(at, Usage.of(Usage.Kind.FAILURES, paused));
    trained -= paused;
    if (progress < furthest && reported) {
      put(at, Usage.of(Usage.Kind.FAILURES, trained));
    } else if (Double.isNaN(share)) {
      put(at, Usage.of(Usage.Kind.UNKNOWN, trained));
    } else {
      long useful = Math.round(trained * Math.clamp(share, 0, 1));
      put(at, Usage.of(Usage.Kind.USEFUL, useful));
      put(at, Usage.of(Usage.Kind.INEFFICIENT, trained - useful));
    }
  }

  private void put(long time, Usage usage) {
    if (usage.equals(Usage.NONE)) {
      return;
    }
    days.merge(new QueueDay(day(time), queue), usage, Usage::plus);
    while (days.size() > MOST_DAYS) {
      Usage first = days.remove(days.firstKey());
      days.merge(days.firstKey(), first == null ? Usage.NONE : first, Usage::plus);
    }
  }

  private static long sum(SortedMap<QueueDay, Usage> days) {
    return days.values().stream().mapToLong(Usage::held).sum();
  }

  private static LocalDate day(long millis) {
    return LocalDate.ofInstant(Instant.ofEpochMilli(millis), ZoneOffset.UTC);
  }

  private static long nextDay(long millis) {
    long day = Duration.ofDays(1).toMillis();
    return Math.addExact(Math.multiplyExact(Math.floorDiv(millis, day), day), day);
  }
}
