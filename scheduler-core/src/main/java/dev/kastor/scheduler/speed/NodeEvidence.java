package dev.kastor.scheduler.speed;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * What reports say of one node, by owner, and how many times longer its steps take.
 *
 * <p>Of each owner's newest {@value #KEPT} comparisons the median counts, and of the owners the one
 * who sees the node fastest: nobody calls a node slow on which another's job runs at full speed.
 * Owned by {@link NodeSpeeds}.
 */
final class NodeEvidence {
  /** Measured over believed step time that is called slow. */
  static final double LIMIT = Math.log(1.3);

  /**
   * The most that is believed: what is slower fails rather than trains, and a job could claim any
   * factor of a node that it has for itself.
   */
  static final double MOST = 4;

  private static final int KEPT = 12;
  private static final int MOST_OWNERS = 4;
  private static final int LEAST_DIRECT = 3;
  private static final int LEAST_SHARED = 4;

  /** Comparisons that are older say nothing of the node as it is. */
  private static final Duration FRESH = Duration.ofMinutes(30);

  /** Comparisons of a job within this time are one: a load that passes shows in all of them. */
  private static final Duration ONE = Duration.ofSeconds(10);

  /**
   * Slow steps are to be seen for so long. A process that starts beside a job takes its time for
   * less, and to leave a node costs a pause.
   */
  private static final Duration LASTING = Duration.ofSeconds(90);

  /** A node of which nobody has told for so long is taken to be as fast as any other. */
  private static final Duration FORGOTTEN = Duration.ofHours(1);

  /** A factor is to be surely above this to be called one. */
  private static final double SURELY = Math.log(1.2);

  /** Standard errors that the median has to lie above it. */
  private static final double ERRORS = 3.5;

  /** The same of a node that is called slow and is faster than that: to be wrong costs less. */
  private static final double ERRORS_FASTER = 2;

  /** Standard error of a median of normal values over that of their mean. */
  private static final double OF_MEDIAN = 1.25;

  /** Source of a comparison of step times. */
  enum Source {
    /** Replicas on this node alone. */
    ALONE,

    /** Replicas on several nodes, one of which may be the slow one. */
    SHARED,

    /** The same job on this node alone, now and when it began there. */
    BEFORE
  }

  /** Comparisons of one job from an instant on: the mean of so many. */
  private record Entry(
      Source source, double logRatio, int samples, int compared, String job, Instant at) {
    boolean takes(Source from, String of, Instant now) {
      return source == from && job.equals(of) && now.isBefore(at.plus(ONE));
    }

    Entry with(StepTimes.Compared more) {
      double mean = logRatio + (more.logRatio() - logRatio) / (compared + 1);
      return new Entry(source, mean, Math.max(samples, more.samples()), compared + 1, job, at);
    }
  }

  private final SequencedMap<String, Deque<Entry>> byOwner = new LinkedHashMap<>();
  private double slowdown = 1;
  private Source because = Source.ALONE;
  private Instant heard = Instant.EPOCH;

  /** How many times longer its steps take than on other nodes. */
  double slowdown() {
    return slowdown;
  }

  /** Whether no more is known than that a job was faster here when it began. */
  boolean onlyBefore() {
    return slowdown == 1 || because == Source.BEFORE;
  }

  /** Whether it is slow by the word of one job alone, which nothing else was compared with. */
  boolean claimed() {
    return slowdown > 1 && because == Source.BEFORE;
  }

  /** Whether a report of replicas on this node alone, or of a fast step, was heard lately. */
  boolean judgedDirectly(Instant now) {
    return byOwner.values().stream().anyMatch(all -> direct(all, now).size() >= LEAST_DIRECT);
  }

  /** Whether all that says the node is slow comes from this one job. */
  boolean onlyFrom(String job) {
    return byOwner.values().stream()
        .flatMap(Deque::stream)
        .filter(entry -> entry.logRatio() >= LIMIT)
        .allMatch(entry -> entry.job().equals(job));
  }

  /**
   * Adds a comparison.
   *
   * @return whether it is one of its own, not one with those of a moment before
   */
  boolean add(Source source, StepTimes.Compared compared, Steps steps, Instant now) {
    Deque<Entry> entries = byOwner.remove(steps.owner());
    if (entries == null) {
      entries = new ArrayDeque<>();
    }
    byOwner.putLast(steps.owner(), entries);
    if (byOwner.size() > MOST_OWNERS) {
      byOwner.pollFirstEntry();
    }
    heard = now;
    Entry newest = entries.peekLast();
    if (newest != null && newest.takes(source, steps.job(), now)) {
      entries.removeLast();
      entries.addLast(newest.with(compared));
      return false;
    }
    entries.addLast(
        new Entry(source, compared.logRatio(), compared.samples(), 1, steps.job(), now));
    if (entries.size() > KEPT) {
      entries.removeFirst();
    }
    return true;
  }

  /**
   * How far a comparison is from what the owner's jobs said of the node before, as the logarithm of
   * the ratio: a node that is slow all the time is no noise, though nobody calls it slow yet.
   */
  double difference(String owner, StepTimes.Compared compared) {
    Deque<Entry> entries = byOwner.get(owner);
    if (entries == null || entries.isEmpty()) {
      return Math.abs(compared.logRatio());
    }
    double[] sorted = entries.stream().mapToDouble(Entry::logRatio).sorted().toArray();
    double median = sorted[sorted.length / 2];
    return median < LIMIT ? Math.abs(compared.logRatio()) : Math.abs(compared.logRatio() - median);
  }

  /** Drops what a job said that is unlike its family. */
  void withdraw(String job) {
    byOwner.values().forEach(all -> all.removeIf(entry -> entry.job().equals(job)));
    byOwner.values().removeIf(Deque::isEmpty);
  }

  /** Whether time alone may change what is known of the node. */
  boolean ages(Instant now) {
    return slowdown > 1 || now.isAfter(heard.plus(FORGOTTEN));
  }

  /** Whether nothing is known of the node. */
  boolean isEmpty() {
    return byOwner.isEmpty() && slowdown == 1;
  }

  private record Judged(double logSlowdown, double error, boolean lasting, Source source) {}

  /**
   * Judges the node anew.
   *
   * @param noise standard deviation of the logarithm of one comparison of an owner's jobs
   * @return whether its slowdown has changed
   */
  boolean judge(ToDoubleFunction<String> noise, Instant now) {
    double before = slowdown;
    if (now.isAfter(heard.plus(FORGOTTEN))) {
      byOwner.clear();
      slowdown = 1;
      return before != 1;
    }
    @Nullable Judged least = null;
    for (var owner : byOwner.entrySet()) {
      Judged judged = judged(owner.getValue(), noise.applyAsDouble(owner.getKey()), now);
      if (judged != null && (least == null || judged.logSlowdown() < least.logSlowdown())) {
        least = judged;
      }
    }
    if (least == null) {
      if (byOwner.isEmpty()) {
        slowdown = 1;
      }
      return slowdown != before;
    }
    // Steps of a half, so that pools are few and stay the same, and none for a small difference.
    double gap = least.logSlowdown() - Math.log(slowdown);
    boolean surely =
        gap > 0
            ? least.lasting() && least.logSlowdown() - ERRORS * least.error() >= SURELY
            : gap + ERRORS_FASTER * least.error() <= 0;
    boolean confirms =
        slowdown > 1
            && because == Source.BEFORE
            && least.source() != Source.BEFORE
            && Math.abs(gap) <= LIMIT
            && least.lasting();
    if (confirms) {
      because = least.source();
    }
    if (Math.abs(gap) > LIMIT && surely) {
      double step = Math.pow(2, Math.round(2 * least.logSlowdown() / Math.log(2)) / 2.0);
      slowdown = Math.clamp(step, 1, MOST);
      because = least.source();
    }
    return slowdown != before;
  }

  private static @Nullable Judged judged(Deque<Entry> entries, double noise, Instant now) {
    List<Entry> direct = direct(entries, now);
    if (direct.size() >= LEAST_DIRECT) {
      return median(direct, noise, Source.ALONE);
    }
    List<Entry> before = fresh(entries, now);
    List<Entry> shared = new ArrayList<>(before);
    before.removeIf(entry -> entry.source() != Source.BEFORE);
    shared.removeIf(entry -> entry.source() == Source.BEFORE);
    if (shared.size() >= LEAST_SHARED) {
      return median(shared, noise, Source.SHARED);
    }
    return before.size() >= LEAST_DIRECT ? median(before, noise, Source.BEFORE) : null;
  }

  private static Judged median(List<Entry> entries, double noise, Source source) {
    double[] sorted = entries.stream().mapToDouble(Entry::logRatio).sorted().toArray();
    double samples = entries.stream().mapToInt(Entry::samples).average().orElse(1);
    double error = OF_MEDIAN * noise * Math.sqrt(1.0 / sorted.length + 1 / samples);
    return new Judged(sorted[(sorted.length - 1) / 2], error, lasting(entries), source);
  }

  private static boolean lasting(List<Entry> oldestFirst) {
    List<Entry> slow = oldestFirst.stream().filter(entry -> entry.logRatio() >= LIMIT).toList();
    return !slow.isEmpty() && !slow.getLast().at().isBefore(slow.getFirst().at().plus(LASTING));
  }

  private static List<Entry> fresh(Deque<Entry> entries, Instant now) {
    List<Entry> fresh = new ArrayList<>();
    for (Entry entry : entries) {
      if (!now.isAfter(entry.at().plus(FRESH))) {
        fresh.add(entry);
      }
    }
    return fresh;
  }

  private static List<Entry> direct(Deque<Entry> entries, Instant now) {
    List<Entry> direct = fresh(entries, now);
    direct.removeIf(entry -> entry.source() == Source.BEFORE);
    if (direct.stream().filter(entry -> entry.source() == Source.ALONE).count() == 0) {
      return List.of();
    }
    direct.removeIf(entry -> entry.source() == Source.SHARED && entry.logRatio() >= LIMIT);
    return direct;
  }
}
