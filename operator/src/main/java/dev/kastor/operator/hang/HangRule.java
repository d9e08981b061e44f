package dev.kastor.operator.hang;

import dev.kastor.protocol.ReplicaState.Doing;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.DoubleSupplier;

/**
 * Finds out whether one job hangs: its members answer and no step is made for long.
 *
 * <p>The first time, one member goes: the one that does not wait for the others, else the one
 * furthest behind. If that did not help, all go and the job starts from its checkpoint. Used by one
 * thread.
 */
final class HangRule {
  /**
   * A member.
   *
   * @param step optimizer steps in its state
   * @param waiting whether it waits for the others
   * @param doing what it is busy with
   */
  record Seen(String pod, long step, boolean waiting, Doing doing) {}

  /**
   * A job that hangs.
   *
   * @param silence how long there has been no step
   * @param suspects pods that have to go
   * @param again whether another remedy was tried and no step beyond that one has followed
   */
  record Hang(Duration silence, List<String> suspects, boolean again) {}

  private final Duration least;
  private final Duration busy;
  private final double steps;
  private long generation = -1;
  private long best = Long.MIN_VALUE;
  private Instant since = Instant.MIN;

  /** When a member was last seen at something else than training, of those since the last step. */
  private Instant busyUntil = Instant.MIN;

  /** Whether a remedy was applied and no step has followed yet. */
  private boolean hanging;

  /** Remedies at steps that nobody has got beyond since. */
  private int remedies;

  /** Step of the last of them. */
  private long remedied = Long.MIN_VALUE;

  /**
   * @param least shortest time without a step
   * @param busy the same while a member evaluates, saves, loads or compiles, and after the last
   *     step
   * @param steps shortest time in usual steps
   */
  HangRule(Duration least, Duration busy, double steps) {
    this.least = least;
    this.busy = busy;
    this.steps = steps;
  }

  /**
   * Looks at the job.
   *
   * @param newest newest generation; the time begins anew with each
   * @param members all of them, if all have answered lately; else none, and the time begins anew
   * @param step most optimizer steps that a member reports
   * @param trained whether that is the last step: what follows, such as an evaluation, makes none
   * @param usualStepSeconds 0 if not known; asked for only after {@code least}
   */
  Optional<Hang> look(
      long newest,
      Collection<Seen> members,
      long step,
      boolean trained,
      DoubleSupplier usualStepSeconds,
      Instant now) {
    hanging &= step <= best;
    // A round of local steps that hangs in its exchange is computed again, up to the same step.
    if (step > remedied) {
      remedies = 0;
    }
    // A restart from a checkpoint goes back; what counts is that something moves.
    if (step != best || newest != generation || members.isEmpty() || since.equals(Instant.MIN)) {
      best = step;
      generation = newest;
      since = now;
      busyUntil = now;
      return Optional.empty();
    }
    if (trained || members.stream().anyMatch(member -> member.doing() != Doing.TRAIN)) {
      busyUntil = now;
    }
    Duration silence = Duration.between(since, now);
    // Who was busy has just begun to train; but nobody is busy for ever.
    Duration idle = Duration.between(busyUntil, now);
    boolean slow =
        idle.compareTo(least) < 0 || idle.compareTo(limit(usualStepSeconds.getAsDouble())) < 0;
    if (slow && silence.compareTo(busy) < 0) {
      return Optional.empty();
    }
    boolean again = remedies++ > 0;
    hanging = true;
    remedied = best;
    since = now;
    busyUntil = now;
    List<String> suspects =
        again
            ? members.stream().map(Seen::pod).sorted().toList()
            : List.of(members.stream().min(MOST_SUSPECT).orElseThrow().pod());
    return Optional.of(new Hang(silence, suspects, again));
  }

  /** Whether a remedy was applied and no step has followed yet. */
  boolean hanging() {
    return hanging;
  }

  private static final Comparator<Seen> MOST_SUSPECT =
      Comparator.comparing(Seen::waiting)
          .thenComparingLong(Seen::step)
          .thenComparing(Comparator.comparing(Seen::pod).reversed());

  private Duration limit(double usualStepSeconds) {
    Duration usual = Duration.ofMillis((long) (usualStepSeconds * steps * 1000));
    return usual.compareTo(least) > 0 ? usual : least;
  }
}
