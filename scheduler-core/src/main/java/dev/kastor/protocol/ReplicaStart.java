package dev.kastor.protocol;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Last parts of the start of a replica's process, which nobody else can measure; said once it has
 * applied its first step.
 *
 * <p>Sent as the query parameter {@code start} of a poll: {@code PEERS,120,410}.
 *
 * @param source where its state came from
 * @param stateMillis how long it took to receive, read or make the state
 * @param firstStepMillis from joining its generation to the end of its first step
 */
public record ReplicaStart(Source source, int stateMillis, int firstStepMillis) {
  /** Longest part, about a day: a longer one has more digits. */
  public static final int MOST_MILLIS = 99_999_999;

  private static final Pattern TEXT =
      Pattern.compile("(INITIAL|CHECKPOINT|PEERS),([0-9]{1,8}),([0-9]{1,8})");

  /** Source of the state of a replica. */
  public enum Source {
    /** The initial parameters. */
    INITIAL,
    /** A checkpoint, of this job or of another one. */
    CHECKPOINT,
    /** Other replicas. */
    PEERS
  }

  public ReplicaStart {
    Check.between("start: milliseconds of the state", stateMillis, 0, MOST_MILLIS);
    Check.between("start: milliseconds of the first step", firstStepMillis, 0, MOST_MILLIS);
  }

  /** A start whose parts were measured; longer ones are cut to the longest that can be said. */
  public static ReplicaStart measured(Source source, long stateNanos, long firstStepNanos) {
    return new ReplicaStart(source, millis(stateNanos), millis(firstStepNanos));
  }

  /**
   * Reads what a poll says.
   *
   * @throws IllegalArgumentException if it is something else
   */
  public static ReplicaStart parse(String text) {
    Matcher parts = TEXT.matcher(text);
    if (!parts.matches()) {
      throw new IllegalArgumentException(
          "start must be SOURCE,STATE_MILLIS,FIRST_STEP_MILLIS, as in PEERS,120,410, with the"
              + " source INITIAL,"
              + " CHECKPOINT or PEERS, but is '%s'".formatted(text));
    }
    return new ReplicaStart(
        Source.valueOf(parts.group(1)),
        Integer.parseInt(parts.group(2)),
        Integer.parseInt(parts.group(3)));
  }

  /** What a poll says. */
  public String text() {
    return source + "," + stateMillis + "," + firstStepMillis;
  }

  private static int millis(long nanos) {
    return Math.clamp(nanos / 1_000_000, 0, MOST_MILLIS);
  }
}
