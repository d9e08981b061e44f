package dev.kastor.operator.usage;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.Period;
import java.time.YearMonth;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * Usage of jobs that are gone, by day, queue and owner: at most {@link #MOST_ROWS} rows.
 *
 * <p>Beyond it the first days of the namespace with most rows no longer tell its owners apart, and
 * then no longer tell of it by name, so that nobody's rows go because another has many. Then the
 * first days end. What queues used in the last {@link #BUDGET} is kept, as budgets count it, and
 * may be {@link #MOST_SUMS} rows: where there are more, days of one month before the last week
 * become one.
 *
 * <p>As text it is a JSON array of rows {@code [day, queue, namespace, user, family, useful,
 * inefficient, starting, rescaling, failures, unknown]} and, where they cost something, both
 * numbers of {@link Cost}. Not thread-safe.
 */
final class GoneUsage {
  static final int MOST_ROWS = 2500;

  /** As many as a ConfigMap holds, whatever the queues are called. */
  static final int MOST_SUMS = 4000;

  /** The longest period of a budget. */
  private static final Period BUDGET = Period.ofDays(31);

  /** Periods of budgets that are shorter than a month. */
  private static final Period RECENT = Period.ofDays(7);

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int WORDS = 11;
  private static final int PRICED_WORDS = 13;
  private static final int FIRST_NUMBER = 5;

  private final NavigableMap<QueueDay, NavigableMap<UsageOwner, Usage>> rows = new TreeMap<>();

  void add(UsageRow row) {
    rows.computeIfAbsent(row.when(), key -> new TreeMap<>())
        .merge(row.owner(), row.usage(), Usage::plus);
    boolean shrinks = true;
    while (size() > MOST_ROWS && shrinks) {
      shrinks = shrink();
    }
  }

  private int size() {
    return rows.values().stream().mapToInt(Map::size).sum();
  }

  /** Makes some rows one, or drops one; false if all have to stay. */
  private boolean shrink() {
    if (mergeOldest()) {
      return true;
    }
    LocalDate newest = rows.lastKey().day();
    if (rows.firstKey().day().isBefore(newest.minus(BUDGET))) {
      var _ = rows.pollFirstEntry();
      return true;
    }
    return rows.size() > MOST_SUMS && (mergeDays(newest.minus(RECENT)) || dropFirst());
  }

  /**
   * Makes the oldest rows less telling of the namespace that has most: its owners of a day become
   * one, and then a part of what is told of nobody.
   */
  private boolean mergeOldest() {
    Map<String, Integer> held = new TreeMap<>();
    rows.values()
        .forEach(owners ->
            owners.keySet().forEach(owner -> held.merge(owner.namespace(), 1, Integer::sum)));
    held.remove(UsageOwner.ALL.namespace());
    return held.entrySet().stream()
        .sorted(Map.Entry.<String, Integer>comparingByValue().reversed())
        .anyMatch(entry -> mergeOldest(entry.getKey()));
  }

  private boolean mergeOldest(String namespace) {
    for (NavigableMap<UsageOwner, Usage> owners : rows.values()) {
      long own =
          owners.keySet().stream().filter(owner -> owner.namespace().equals(namespace)).count();
      if (own > 1) {
        merge(owners, owner -> owner.namespace().equals(namespace), UsageOwner.all(namespace));
        return true;
      }
      if (own == 1 && owners.size() > 1) {
        merge(
            owners,
            owner -> owner.namespace().equals(namespace) || owner.equals(UsageOwner.ALL),
            UsageOwner.ALL);
        return true;
      }
    }
    return false;
  }

  private static void merge(
      Map<UsageOwner, Usage> owners, Predicate<UsageOwner> which, UsageOwner into) {
    Usage sum = Usage.NONE;
    for (var row : owners.entrySet()) {
      sum = which.test(row.getKey()) ? sum.plus(row.getValue()) : sum;
    }
    owners.keySet().removeIf(which);
    owners.merge(into, sum, Usage::plus);
  }

  /** Makes two days of one queue and month one, the earlier, which both are before that. */
  private boolean mergeDays(LocalDate before) {
    for (QueueDay day : rows.keySet()) {
      for (QueueDay later : rows.tailMap(day, false).keySet()) {
        boolean mayMerge =
            later.queue().equals(day.queue())
                && later.day().isBefore(before)
                && YearMonth.from(later.day()).equals(YearMonth.from(day.day()));
        if (mayMerge) {
          var moved = Objects.requireNonNull(rows.remove(later));
          var kept = Objects.requireNonNull(rows.get(day));
          moved.forEach((owner, usage) -> kept.merge(owner, usage, Usage::plus));
          merge(kept, owner -> true, UsageOwner.ALL);
          return true;
        }
      }
    }
    return false;
  }

  private boolean dropFirst() {
    var _ = rows.pollFirstEntry();
    return true;
  }

  List<UsageRow> rows() {
    List<UsageRow> all = new ArrayList<>();
    rows.forEach((when, owners) ->
        owners.forEach((owner, usage) -> all.add(new UsageRow(when, owner, usage))));
    return all;
  }

  String text() {
    ArrayNode all = JSON.createArrayNode();
    for (UsageRow row : rows()) {
      Usage usage = row.usage();
      ArrayNode words = all.addArray();
      words
          .add(row.when().day().toString())
          .add(row.when().queue())
          .add(row.owner().namespace())
          .add(row.owner().user())
          .add(row.owner().family())
          .add(usage.useful())
          .add(usage.inefficient())
          .add(usage.starting())
          .add(usage.rescaling())
          .add(usage.failures())
          .add(usage.unknown());
      if (!usage.cost().equals(Cost.NONE)) {
        words.add(usage.cost().micros()).add(usage.cost().pricedMillis());
      }
    }
    return all.toString();
  }

  /**
   * Adds what a text tells.
   *
   * @throws IllegalArgumentException if it is no such text
   */
  void addAll(String text) {
    List<UsageRow> read = new ArrayList<>();
    try {
      for (JsonNode row : JSON.readTree(text)) {
        if (row.size() != WORDS && row.size() != PRICED_WORDS) {
          throw new IllegalArgumentException("a row has %d entries".formatted(row.size()));
        }
        read.add(
            new UsageRow(
                new QueueDay(LocalDate.parse(row.get(0).asText()), row.get(1).asText()),
                new UsageOwner(row.get(2).asText(), row.get(3).asText(), row.get(4).asText()),
                new Usage(
                    number(row, 0),
                    number(row, 1),
                    number(row, 2),
                    number(row, 3),
                    number(row, 4),
                    number(row, 5),
                    row.size() == WORDS ? Cost.NONE : new Cost(number(row, 6), number(row, 7)))));
      }
    } catch (JsonProcessingException | DateTimeException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
    read.forEach(this::add);
  }

  private static long number(JsonNode row, int index) {
    JsonNode number = row.get(FIRST_NUMBER + index);
    if (!number.canConvertToLong() || number.asLong() < 0) {
      throw new IllegalArgumentException(
          "%s is no number of milliseconds or millionths".formatted(number));
    }
    return number.asLong();
  }
}
