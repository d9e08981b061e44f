package dev.kastor.local.api;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;

/**
 * Column of a type's table, as a CRD's {@code additionalPrinterColumns} describes it.
 *
 * @param name its heading
 * @param type of its values, such as {@code string} or {@code date}
 * @param priority 0, or more for what only {@code -o wide} shows
 * @param path the steps to the value
 */
record PrinterColumn(String name, String type, int priority, List<Step> path) {
  /** {@code .field}, in which a backslash stands before a dot, or {@code [?(@.key=="value")]}. */
  private static final Pattern STEP =
      Pattern.compile("\\.((?:[^.\\[\\\\]|\\\\.)+)|\\[\\?\\(@\\.(\\w+)==\"([^\"]*)\"\\)]");

  private static final Duration MINUTES = Duration.ofMinutes(2);
  private static final Duration HOURS = Duration.ofHours(3);
  private static final Duration DAYS = Duration.ofDays(2);

  /** One step into a value. */
  private sealed interface Step {
    /** To a field. */
    record Field(String name) implements Step {}

    /** To the first element of a list whose field has a value. */
    record Element(String field, String value) implements Step {}
  }

  /** The columns of one version of a CRD. */
  static List<PrinterColumn> of(JsonNode version) {
    return StreamSupport.stream(version.path("additionalPrinterColumns").spliterator(), false)
        .map(column ->
            new PrinterColumn(
                column.path("name").asText(),
                column.path("type").asText(),
                column.path("priority").asInt(),
                steps(column.path("jsonPath").asText())))
        .toList();
  }

  private static List<Step> steps(String path) {
    List<Step> steps = new ArrayList<>();
    Matcher matcher = STEP.matcher(path);
    int end = 0;
    while (end < path.length()) {
      if (!matcher.find(end) || matcher.start() != end) {
        throw ApiException.badRequest(
            "additionalPrinterColumns: the path %s is not understood from character %d on"
                .formatted(path, end + 1));
      }
      steps.add(
          matcher.group(1) == null
              ? new Step.Element(matcher.group(2), matcher.group(3))
              : new Step.Field(matcher.group(1).replaceAll("\\\\(.)", "$1")));
      end = matcher.end();
    }
    return steps;
  }

  /** The value in an object; missing if the object has none. */
  JsonNode value(JsonNode object) {
    JsonNode at = object;
    for (Step step : path) {
      at =
          switch (step) {
            case Step.Field(String field) -> at.path(field);
            case Step.Element(String field, String value) -> element(at, field, value);
          };
    }
    return at;
  }

  private static JsonNode element(JsonNode list, String field, String value) {
    for (JsonNode each : list) {
      if (each.path(field).asText().equals(value)) {
        return each;
      }
    }
    return Json.object().path(field);
  }

  /** The time since a moment as kubectl shows it, such as 90s, 5m or 3d. */
  static String age(String moment, Instant now) {
    Duration age;
    try {
      age = Duration.between(Instant.parse(moment), now);
    } catch (DateTimeParseException e) {
      return "<unknown>";
    }
    if (age.compareTo(MINUTES) < 0) {
      return Math.max(0, age.toSeconds()) + "s";
    }
    if (age.compareTo(HOURS) < 0) {
      return age.toMinutes() + "m";
    }
    return age.compareTo(DAYS) < 0 ? age.toHours() + "h" : age.toDays() + "d";
  }
}
