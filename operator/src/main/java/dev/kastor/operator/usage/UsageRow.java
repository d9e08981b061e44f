package dev.kastor.operator.usage;

import java.util.Comparator;

/** Usage of one owner on one day of a queue. */
public record UsageRow(QueueDay when, UsageOwner owner, Usage usage) {
  static final Comparator<UsageRow> ORDER =
      Comparator.comparing(UsageRow::when).thenComparing(UsageRow::owner);
}
