package dev.kastor.crds.start;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/**
 * Start of a replica, from being scheduled to the end of its first step, by parts. A part that
 * nobody measured is absent; where all are there, they add up to the total.
 *
 * @param pod the replica's
 * @param at when it trained
 * @param millis milliseconds of each part that is known
 * @param source where its state came from, as one word; empty where it does not say
 * @param total milliseconds of the whole start; empty where its begin or its end is unknown
 */
public record StartTimes(
    String pod, Instant at, Map<StartPhase, Long> millis, String source, OptionalLong total) {
  private static final String TOTAL = "total";
  private static final String FROM = "from";
  private static final Pattern WORD = Pattern.compile("[A-Za-z0-9.-]{1,253}");
  private static final Pattern NUMBER = Pattern.compile("[0-9]{1,12}");

  public StartTimes {
    EnumMap<StartPhase, Long> ordered = new EnumMap<>(StartPhase.class);
    ordered.putAll(millis);
    millis = Collections.unmodifiableMap(ordered);
  }

  /** A line of a status: {@code pod-2 2026-11-26T18:00:00Z image=1200 process=800 … total=5750}. */
  public String text() {
    StringBuilder text = new StringBuilder(pod).append(' ').append(at);
    millis.forEach(
        (phase, value) -> text.append(' ').append(phase.label()).append('=').append(value));
    if (!source.isEmpty()) {
      text.append(' ').append(FROM).append('=').append(source);
    }
    total.ifPresent(value -> text.append(' ').append(TOTAL).append('=').append(value));
    return text.toString();
  }

  /** Reads such a line; empty if it is none, as others may write statuses too. */
  public static Optional<StartTimes> parse(String text) {
    String[] words = text.split(" ", -1);
    if (words.length < 2 || !WORD.matcher(words[0]).matches()) {
      return Optional.empty();
    }
    Map<String, String> fields = new HashMap<>();
    for (int i = 2; i < words.length; i++) {
      int equals = words[i].indexOf('=');
      if (equals < 0) {
        return Optional.empty();
      }
      fields.put(words[i].substring(0, equals), words[i].substring(equals + 1));
    }
    String from = fields.getOrDefault(FROM, "");
    if (!from.isEmpty() && !WORD.matcher(from).matches()) {
      return Optional.empty();
    }
    EnumMap<StartPhase, Long> millis = new EnumMap<>(StartPhase.class);
    for (StartPhase phase : StartPhase.values()) {
      number(fields, phase.label()).ifPresent(value -> millis.put(phase, value));
    }
    try {
      return Optional.of(
          new StartTimes(words[0], Instant.parse(words[1]), millis, from, number(fields, TOTAL)));
    } catch (DateTimeException e) {
      return Optional.empty();
    }
  }

  private static OptionalLong number(Map<String, String> fields, String name) {
    String value = fields.getOrDefault(name, "");
    return NUMBER.matcher(value).matches()
        ? OptionalLong.of(Long.parseLong(value))
        : OptionalLong.empty();
  }
}
