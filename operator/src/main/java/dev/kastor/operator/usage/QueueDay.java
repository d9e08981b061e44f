package dev.kastor.operator.usage;

import java.time.LocalDate;
import java.util.Comparator;

/**
 * A day of a queue.
 *
 * @param day of UTC
 * @param queue whose quota the slots counted against; empty for none
 */
public record QueueDay(LocalDate day, String queue) implements Comparable<QueueDay> {
  private static final Comparator<QueueDay> ORDER =
      Comparator.comparing(QueueDay::day).thenComparing(QueueDay::queue);

  @Override
  public int compareTo(QueueDay other) {
    return ORDER.compare(this, other);
  }
}
