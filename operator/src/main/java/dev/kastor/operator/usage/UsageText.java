package dev.kastor.operator.usage;

import java.time.DateTimeException;
import java.time.LocalDate;
import java.util.Optional;
import java.util.SortedMap;
import java.util.StringJoiner;
import java.util.TreeMap;

/**
 * Usage of one job as its status holds it.
 *
 * <p>The first line has the version, the time up to which it was counted (Unix time in
 * milliseconds), the furthest progress in scale-invariant steps, and what missing slots count as.
 * Each other line is a day, a queue ({@code -} for none), slot-milliseconds in the order of {@link
 * Usage} and, where they cost something, both numbers of {@link Cost}.
 *
 * @param at time up to which it was counted, Unix time in milliseconds
 * @param furthest furthest progress in scale-invariant steps
 * @param missing what slots count as that are held and do not train
 * @param days slot-milliseconds by day and queue
 */
record UsageText(long at, double furthest, Usage.Kind missing, SortedMap<QueueDay, Usage> days) {
  private static final String VERSION = "1";
  private static final String NO_QUEUE = "-";
  private static final int HEAD_WORDS = 4;
  private static final int DAY_WORDS = 8;
  private static final int PRICED_DAY_WORDS = 10;

  /** Of a text that is read: twice what is ever written. */
  private static final int MOST_CHARACTERS = 16_384;

  String text() {
    StringJoiner lines = new StringJoiner("\n");
    lines.add(
        String.join(" ", VERSION, Long.toString(at), Double.toString(furthest), missing.name()));
    days.forEach((key, usage) ->
        lines.add(
            "%s %s %d %d %d %d %d %d%s"
                .formatted(
                    key.day(),
                    key.queue().isEmpty() ? NO_QUEUE : key.queue(),
                    usage.useful(),
                    usage.inefficient(),
                    usage.starting(),
                    usage.rescaling(),
                    usage.failures(),
                    usage.unknown(),
                    usage.cost().equals(Cost.NONE)
                        ? ""
                        : " %d %d".formatted(usage.cost().micros(), usage.cost().pricedMillis()))));
    return lines.toString();
  }

  /** What a text says; empty if no operator wrote it. */
  static Optional<UsageText> read(String text) {
    if (text.length() > MOST_CHARACTERS) {
      return Optional.empty();
    }
    String[] lines = text.split("\n", -1);
    String[] head = lines[0].split(" ", -1);
    if (head.length != HEAD_WORDS || !head[0].equals(VERSION)) {
      return Optional.empty();
    }
    try {
      SortedMap<QueueDay, Usage> days = new TreeMap<>();
      for (int i = 1; i < lines.length; i++) {
        String[] words = lines[i].split(" ", -1);
        if (words.length != DAY_WORDS && words.length != PRICED_DAY_WORDS) {
          return Optional.empty();
        }
        days.put(
            new QueueDay(LocalDate.parse(words[0]), words[1].equals(NO_QUEUE) ? "" : words[1]),
            new Usage(
                millis(words[2]),
                millis(words[3]),
                millis(words[4]),
                millis(words[5]),
                millis(words[6]),
                millis(words[7]),
                words.length == DAY_WORDS
                    ? Cost.NONE
                    : new Cost(millis(words[8]), millis(words[9]))));
      }
      double furthest = Double.parseDouble(head[2]);
      return Optional.of(
          new UsageText(
              millis(head[1]), furthest >= 0 ? furthest : 0, Usage.Kind.valueOf(head[3]), days));
    } catch (IllegalArgumentException | DateTimeException e) {
      return Optional.empty();
    }
  }

  /** A number of milliseconds or of millionths: sums of what is read must not overflow either. */
  private static long millis(String word) {
    long millis = Long.parseLong(word);
    if (millis < 0 || millis > Long.MAX_VALUE / 1_000_000) {
      throw new IllegalArgumentException("no number that an operator wrote: " + word);
    }
    return millis;
  }
}
