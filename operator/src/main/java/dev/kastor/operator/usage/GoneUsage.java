package dev.kastor.operator.usage;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Usage of jobs that are gone, by day, queue and owner: at most {@link #MOST_ROWS} rows. Beyond it
 * the first days no longer tell owners apart, and then end.
 *
 * <p>As text it is a JSON array of rows {@code [day, queue, namespace, user, family, useful,
 * inefficient, starting, rescaling, failures, unknown]} and, where they cost something, both
 * numbers of {@link Cost}. Not thread-safe.
 */
final class GoneUsage {
  static final int MOST_ROWS = 2500;

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int WORDS = 11;
  private static final int PRICED_WORDS = 13;
  private static final int FIRST_NUMBER = 5;

  private final NavigableMap<QueueDay, NavigableMap<UsageOwner, Usage>> rows = new TreeMap<>();

  void add(UsageRow row) {
    rows.computeIfAbsent(row.when(), key -> new TreeMap<>())
        .merge(row.owner(), row.usage(), Usage::plus);
    while (size() > MOST_ROWS) {
      shrink();
    }
  }

  private int size() {
    return rows.values().stream().mapToInt(Map::size).sum();
  }

  private void shrink() {
    for (NavigableMap<UsageOwner, Usage> owners : rows.values()) {
      if (owners.size() > 1) {
        Usage sum = owners.values().stream().reduce(Usage.NONE, Usage::plus);
        owners.clear();
        owners.put(UsageOwner.ALL, sum);
        return;
      }
    }
    var _ = rows.pollFirstEntry();
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
