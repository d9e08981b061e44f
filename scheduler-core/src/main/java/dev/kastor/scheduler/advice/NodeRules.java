package dev.kastor.scheduler.advice;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What an owner wants of the size of the cluster.
 *
 * @param low utility below which there are too many nodes, above 0
 * @param high utility above which there are too few, above {@code low} and at most 1
 * @param ranges bounds on the nodes of a GPU type; those of the empty name hold for every type that
 *     is not named
 */
public record NodeRules(double low, double high, SequencedMap<String, Range> ranges) {
  private static final Pattern FORM =
      Pattern.compile("(\\d*\\.?\\d+):(\\d*\\.?\\d+):(.+)", Pattern.DOTALL);
  private static final Pattern RANGE =
      Pattern.compile("(?:([A-Za-z0-9._-]+)=)?(\\d{1,6})-(\\d{1,6})");

  /** Fewest and most nodes. */
  public record Range(int min, int max) {
    public Range {
      if (min < 0 || max < Math.max(1, min)) {
        throw new IllegalArgumentException(
            "max (%d) must be at least 1 and at least min (%d), which must not be negative"
                .formatted(max, min));
      }
    }
  }

  public NodeRules {
    ranges = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(ranges));
    if (!(low > 0 && low < high && high <= 1)) {
      throw new IllegalArgumentException(
          "low (%s) must be above 0 and below high (%s), which must be at most 1"
              .formatted(low, high));
    }
    if (ranges.isEmpty()) {
      throw new IllegalArgumentException("ranges must bound at least one GPU type");
    }
  }

  /**
   * Reads {@code LOW:HIGH:MIN-MAX}, or by GPU type {@code LOW:HIGH:a100=0-4,t4=1-16}.
   *
   * @throws IllegalArgumentException with what is wrong and how it should look
   */
  public static NodeRules parse(String text) {
    Matcher matcher = FORM.matcher(text.strip());
    if (!matcher.matches()) {
      throw malformed(text);
    }
    SequencedMap<String, Range> ranges = new LinkedHashMap<>();
    for (String part : matcher.group(3).split(",", -1)) {
      Matcher range = RANGE.matcher(part.strip());
      if (!range.matches()) {
        throw malformed(text);
      }
      String type = range.group(1) == null ? "" : range.group(1);
      Range bounds = new Range(Integer.parseInt(range.group(2)), Integer.parseInt(range.group(3)));
      if (ranges.put(type, bounds) != null) {
        throw new IllegalArgumentException("'%s' appears twice in '%s'".formatted(type, text));
      }
    }
    return new NodeRules(
        Double.parseDouble(matcher.group(1)), Double.parseDouble(matcher.group(2)), ranges);
  }

  private static IllegalArgumentException malformed(String text) {
    return new IllegalArgumentException(
        "'%s' must be LOW:HIGH:MIN-MAX such as 0.55:0.75:1-16, or LOW:HIGH:TYPE=MIN-MAX joined by commas"
            .formatted(text));
  }

  /** Bounds on the nodes of a type; empty for a type that nobody wants advice on. */
  public Optional<Range> range(String gpuType) {
    Range own = ranges.get(gpuType);
    return Optional.ofNullable(own == null ? ranges.get("") : own);
  }

  /** The middle of the band, which a change aims at. */
  double target() {
    return (low + high) / 2;
  }

  /** The form that {@link #parse} reads. */
  @Override
  public String toString() {
    List<String> parts =
        ranges.entrySet().stream()
            .map(e ->
                "%s%d-%d"
                    .formatted(
                        e.getKey().isEmpty() ? "" : e.getKey() + "=",
                        e.getValue().min(),
                        e.getValue().max()))
            .toList();
    return "%s:%s:%s".formatted(low, high, String.join(",", parts));
  }
}
