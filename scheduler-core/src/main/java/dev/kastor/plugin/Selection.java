package dev.kastor.plugin;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/**
 * Text that chooses a plug-in and sets options of it: {@code name:option=value:option=value}.
 *
 * @param name name of the plug-in
 * @param values texts of values by the names of options, in the order in which they were given
 */
public record Selection(String name, SequencedMap<String, String> values) {
  public Selection {
    values = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(values));
  }

  /**
   * A selection from its text.
   *
   * @throws IllegalArgumentException if it has another form, or sets an option twice
   */
  public static Selection parse(String text) {
    String[] parts = text.strip().split(":", -1);
    SequencedMap<String, String> values = new LinkedHashMap<>();
    for (int i = 1; i < parts.length; i++) {
      int equals = parts[i].indexOf('=');
      if (equals < 1) {
        throw new IllegalArgumentException(
            "'%s' must be NAME or NAME:OPTION=VALUE:OPTION=VALUE".formatted(text));
      }
      String option = parts[i].substring(0, equals).strip();
      if (values.putIfAbsent(option, parts[i].substring(equals + 1).strip()) != null) {
        throw new IllegalArgumentException("'%s' sets %s twice".formatted(text, option));
      }
    }
    return new Selection(parts[0].strip(), values);
  }

  /** The same, with a value for an option that it does not set. */
  public Selection orElse(String option, String value) {
    SequencedMap<String, String> all = new LinkedHashMap<>(values);
    all.putIfAbsent(option, value);
    return new Selection(name, all);
  }
}
