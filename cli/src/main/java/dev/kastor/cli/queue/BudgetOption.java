package dev.kastor.cli.queue;

import dev.kastor.crds.queue.QueueSpec.PeriodKind;
import java.math.BigDecimal;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.TypeConversionException;

/**
 * Budget of a queue as an option gives it.
 *
 * @param gpuHours GPU-hours of a period; null to take the budget away
 * @param period for how long they are
 */
public record BudgetOption(@Nullable BigDecimal gpuHours, PeriodKind period) {
  private static final Pattern FORM =
      Pattern.compile("([0-9]{1,10}(?:\\.[0-9]{1,6})?)/(day|week|month)");

  /**
   * The budget of a text such as {@code 100/week} or {@code none}.
   *
   * @throws TypeConversionException if it has another form
   */
  public static BudgetOption of(String text) {
    String lower = text.toLowerCase(Locale.ROOT);
    if (lower.equals("none")) {
      return new BudgetOption(null, PeriodKind.Day);
    }
    Matcher form = FORM.matcher(lower);
    if (!form.matches()) {
      throw new TypeConversionException(
          "expected GPU-hours of a day, week or month, such as 100/week, or none, but was '%s'"
              .formatted(text));
    }
    return new BudgetOption(
        new BigDecimal(form.group(1)),
        Stream.of(PeriodKind.values())
            .filter(period -> period.name().equalsIgnoreCase(form.group(2)))
            .findFirst()
            .orElseThrow());
  }

  boolean none() {
    return gpuHours == null;
  }
}
