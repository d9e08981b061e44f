package dev.kastor.plugin;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;

/**
 * Values of all options of a plug-in.
 *
 * <p>Equal where all values are equal, however they were set. The text form names what differs from
 * the defaults, in the order in which the options are declared: equal values have equal texts, so
 * that it serves in labels and keys. Immutable.
 */
public final class Options {
  private final List<Option<?>> declared;

  /** Values that differ from the default. */
  private final Map<Option<?>, Object> changed;

  private Options(List<Option<?>> declared, Map<Option<?>, Object> changed) {
    this.declared = declared;
    this.changed = changed;
  }

  /** All defaults of a plug-in. */
  public static Options usual(Plugin plugin) {
    return new Options(List.copyOf(plugin.options()), Map.of());
  }

  /**
   * Values from their texts by the names of options.
   *
   * @param kind what the plug-in is, such as {@code policy}, for messages
   * @throws IllegalArgumentException if an option is unknown or its value is not valid; the message
   *     lists what is
   */
  public static Options parse(String kind, Plugin plugin, Map<String, String> texts) {
    Options options = usual(plugin);
    for (Map.Entry<String, String> entry : texts.entrySet()) {
      options = options.with(kind, plugin, entry.getKey(), entry.getValue());
    }
    return options;
  }

  private Options with(String kind, Plugin plugin, String name, String text) {
    for (Option<?> option : declared) {
      if (option.name().equals(name)) {
        try {
          return withText(option, text);
        } catch (IllegalArgumentException e) {
          throw new IllegalArgumentException(
              "%s %s: %s".formatted(kind, plugin.name(), e.getMessage()), e);
        }
      }
    }
    List<String> names = declared.stream().map(Option::name).toList();
    throw new IllegalArgumentException(
        "%s %s has no option '%s'. %s"
            .formatted(
                kind,
                plugin.name(),
                name,
                names.isEmpty()
                    ? "It has none."
                    : "Use one of: " + String.join(", ", names) + Nearest.question(name, names)));
  }

  private <T> Options withText(Option<T> option, String text) {
    return with(option, option.parse(text));
  }

  /** The value of an option of this plug-in. */
  public <T> T get(Option<T> option) {
    Object value = changed.get(own(option));
    return value == null ? option.usual() : option.cast(value);
  }

  /**
   * The same with another value.
   *
   * @throws IllegalArgumentException if it is not valid; the message says what is
   */
  public <T> Options with(Option<T> option, T value) {
    Map<Option<?>, Object> values = new HashMap<>(changed);
    if (option.checked(value).equals(own(option).usual())) {
      values.remove(option);
    } else {
      values.put(option, value);
    }
    return new Options(declared, Map.copyOf(values));
  }

  private <T> Option<T> own(Option<T> option) {
    if (!declared.contains(option)) {
      throw new IllegalArgumentException(
          "option %s is none of this plug-in's: %s. Add it to options()."
              .formatted(option, declared));
    }
    return option;
  }

  /** Whether nothing differs from the defaults. */
  public boolean isUsual() {
    return changed.isEmpty();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Options that
        && declared.equals(that.declared)
        && changed.equals(that.changed);
  }

  @Override
  public int hashCode() {
    // Of the text: that of an enum constant differs from process to process.
    return toString().hashCode();
  }

  /** What differs from the defaults, as {@code option=value:option=value}; empty for nothing. */
  @Override
  public String toString() {
    StringJoiner text = new StringJoiner(":");
    for (Option<?> option : declared) {
      Object value = changed.get(option);
      if (value != null) {
        text.add(option.name() + "=" + option.text(value));
      }
    }
    return text.toString();
  }
}
