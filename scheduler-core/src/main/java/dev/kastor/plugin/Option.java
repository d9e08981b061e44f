package dev.kastor.plugin;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Setting of a plug-in: its name, type, default and meaning, and which values are valid.
 *
 * <p>Commands, configuration, messages, reference pages and the keys of cached results follow from
 * it. Options are compared by identity: keep each in a constant. Immutable.
 *
 * @param <T> type of its values, which have {@code equals}
 */
public final class Option<T> {
  private static final Pattern NAME = Pattern.compile("[a-z][A-Za-z0-9]*");
  private static final double LARGEST_WHOLE = 1e15;

  private final String name;
  private final Class<T> type;
  private final T usual;
  private final String doc;
  private final String rule;
  private final Predicate<T> valid;
  private final Function<String, T> reader;
  private final Function<T, String> writer;

  private Option(
      String name,
      Class<T> type,
      T usual,
      String doc,
      String rule,
      Predicate<T> valid,
      Function<String, T> reader,
      Function<T, String> writer) {
    if (!NAME.matcher(name).matches()) {
      throw new IllegalArgumentException(
          "option '%s' must begin with a lower-case letter and hold letters and digits only"
              .formatted(name));
    }
    if (doc.isBlank()) {
      throw new IllegalArgumentException("option %s has no documentation".formatted(name));
    }
    if (!valid.test(usual)) {
      throw new IllegalArgumentException(
          "the default of option %s must be %s but is %s".formatted(name, rule, usual));
    }
    this.name = name;
    this.type = type;
    this.usual = usual;
    this.doc = doc;
    this.rule = rule;
    this.valid = valid;
    this.reader = reader;
    this.writer = writer;
  }

  /**
   * A number, which may be {@code infinity}.
   *
   * @param doc what it is, with its unit
   */
  public static Option<Double> number(String name, double usual, String doc) {
    return new Option<>(
        name,
        Double.class,
        usual,
        doc,
        "a number",
        value -> !Double.isNaN(value),
        Option::readNumber,
        Option::numberText);
  }

  /**
   * A whole number.
   *
   * @param doc what it counts
   */
  public static Option<Integer> count(String name, int usual, String doc) {
    return new Option<>(
        name,
        Integer.class,
        usual,
        doc,
        "a whole number",
        value -> true,
        text -> new BigDecimal(text).intValueExact(),
        value -> Integer.toString(value));
  }

  /**
   * {@code true} or {@code false}.
   *
   * @param doc what is so if it is true
   */
  public static Option<Boolean> flag(String name, boolean usual, String doc) {
    return new Option<>(
        name,
        Boolean.class,
        usual,
        doc,
        "true or false",
        value -> true,
        Option::readFlag,
        value -> Boolean.toString(value));
  }

  /**
   * One of the constants of an enum, written in lower case.
   *
   * @param doc what the constants mean
   */
  public static <E extends Enum<E>> Option<E> choice(
      String name, Class<E> type, E usual, String doc) {
    E[] constants = type.getEnumConstants();
    String all =
        Arrays.stream(constants).map(Option::constantText).collect(Collectors.joining(", "));
    return new Option<>(
        name,
        type,
        usual,
        doc,
        "one of " + all,
        value -> true,
        text ->
            Arrays.stream(constants)
                .filter(constant -> constantText(constant).equals(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no constant " + text)),
        Option::constantText);
  }

  /**
   * The same with fewer valid values.
   *
   * @param condition which values are valid
   * @param words the condition, such that "a number {words}" reads well: {@code above 0}
   */
  public Option<T> where(Predicate<T> condition, String words) {
    return new Option<>(
        name, type, usual, doc, rule + " " + words, valid.and(condition), reader, writer);
  }

  /** Name by which users set it. */
  public String name() {
    return name;
  }

  /** Value that holds where users set none. */
  public T usual() {
    return usual;
  }

  /** Meaning, with the unit. */
  public String doc() {
    return doc;
  }

  /** Valid values in words, such as {@code a number above 0}. */
  public String rule() {
    return rule;
  }

  /** Default as users would write it. */
  public String usualText() {
    return writer.apply(usual);
  }

  /**
   * A value from its text.
   *
   * @throws IllegalArgumentException if it is not valid; the message says what is
   */
  public T parse(String text) {
    T value;
    try {
      value = reader.apply(text.strip());
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new IllegalArgumentException(refusal(text), e);
    }
    return checked(value);
  }

  T checked(T value) {
    if (!valid.test(value)) {
      throw new IllegalArgumentException(refusal(writer.apply(value)));
    }
    return value;
  }

  T cast(Object value) {
    return type.cast(value);
  }

  /** The canonical text of a value of this option. */
  String text(Object value) {
    return writer.apply(type.cast(value));
  }

  private String refusal(String text) {
    return "%s must be %s but is '%s' (%s)".formatted(name, rule, text, doc);
  }

  private static double readNumber(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "infinity", "inf" -> Double.POSITIVE_INFINITY;
      case "-infinity", "-inf" -> Double.NEGATIVE_INFINITY;
      // Without the sign of a zero, which no value depends on.
      default -> Double.parseDouble(text) + 0.0;
    };
  }

  private static String numberText(double value) {
    if (Double.isInfinite(value)) {
      return value > 0 ? "infinity" : "-infinity";
    }
    return value == Math.rint(value) && Math.abs(value) < LARGEST_WHOLE
        ? Long.toString((long) value)
        : Double.toString(value);
  }

  private static boolean readFlag(String text) {
    return switch (text) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new IllegalArgumentException("neither true nor false");
    };
  }

  private static String constantText(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  @Override
  public String toString() {
    return name;
  }
}
