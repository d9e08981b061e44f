package dev.kastor.operator.start;

import dev.kastor.crds.start.StartPhase;
import dev.kastor.crds.start.StartTimes;
import dev.kastor.protocol.ReplicaStart;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Times in the start of a replica as the operator heard of them, by its own clock; null for what
 * has not come yet.
 *
 * <p>Times of the pod come from other clocks, and parts that the replica measured are its word:
 * both are cut to what the operator heard, so that no part is negative and all that are known add
 * up to no more than the whole.
 *
 * @param heard its first poll
 * @param ready its first poll as one that could train
 * @param told when the newest generation with it was published
 * @param joined its first poll as a member of that
 */
public record StartMarks(
    Instant heard, @Nullable Instant ready, @Nullable Instant told, @Nullable Instant joined) {
  /** A replica that was heard for the first time. */
  public static StartMarks heard(Instant now) {
    return new StartMarks(now, null, null, null);
  }

  /** It could train; only the first time counts. */
  public StartMarks ready(Instant now) {
    return ready == null ? new StartMarks(heard, now, told, joined) : this;
  }

  /** A generation has it. Before its first step a newer one counts instead. */
  public StartMarks told(Instant now) {
    return new StartMarks(heard, ready, now, joined);
  }

  /** It is a member. */
  public StartMarks joined(Instant now) {
    return new StartMarks(heard, ready, told, now);
  }

  /**
   * The parts of the start.
   *
   * @param pod what the pod's status tells
   * @param listening since when this operator has listened: a process that began before may have
   *     spoken to another one first
   * @param said what the replica measured itself; empty of one that does not say
   */
  public StartTimes times(
      String name, PodTimes pod, Instant listening, Optional<ReplicaStart> said, Instant now) {
    Map<StartPhase, Long> millis = new EnumMap<>(StartPhase.class);
    long first = heard.toEpochMilli();
    Optional<Long> scheduled = pod.scheduled().map(at -> Math.min(first, at.toEpochMilli()));
    Optional<Long> container =
        pod.container()
            .map(at -> Math.clamp(at.toEpochMilli(), scheduled.orElse(Long.MIN_VALUE), first));
    scheduled.ifPresent(from -> container.ifPresent(to -> millis.put(StartPhase.IMAGE, to - from)));
    boolean heardFirst =
        pod.container().or(pod::scheduled).filter(at -> !at.isBefore(listening)).isPresent();
    Optional<Long> could = Optional.ofNullable(ready).map(at -> later(first, at));
    if (heardFirst) {
      container.ifPresent(from -> millis.put(StartPhase.PROCESS, first - from));
      could.ifPresent(to -> millis.put(StartPhase.PREPARATION, to - first));
    }
    long asked = later(could.orElse(first), told);
    long member = later(asked, joined == null ? now : joined);
    long end = member;
    if (said.isPresent()) {
      // Its first step may be over before it was heard as a member.
      long last = later(asked, now);
      long step = Math.min(said.get().firstStepMillis(), last - asked);
      member = Math.min(member, last - step);
      long state = Math.min(said.get().stateMillis(), member - asked);
      if (could.isPresent()) {
        millis.put(StartPhase.WAIT, member - could.get() - state);
      }
      millis.put(StartPhase.STATE, state);
      millis.put(StartPhase.FIRST_STEP, step);
      end = member + step;
    }
    return new StartTimes(
        name,
        Instant.ofEpochMilli(end),
        millis,
        said.map(start -> start.source().name().toLowerCase(Locale.ROOT)).orElse(""),
        said.isPresent() && scheduled.isPresent()
            ? OptionalLong.of(end - scheduled.get())
            : OptionalLong.empty());
  }

  private static long later(long than, @Nullable Instant at) {
    return at == null ? than : Math.max(than, at.toEpochMilli());
  }
}
