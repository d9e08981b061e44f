package dev.kastor.simulator.evaluate;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Headings and tables, line by line. Numbers that are none are dashes. */
final class Markdown {
  private final List<String> lines = new ArrayList<>();

  List<String> lines() {
    return List.copyOf(lines);
  }

  void heading(String title) {
    if (!lines.isEmpty()) {
      lines.add("");
    }
    lines.add("### " + title);
    lines.add("");
  }

  void paragraph(String text) {
    if (!lines.isEmpty() && !lines.getLast().isEmpty()) {
      lines.add("");
    }
    lines.add(text);
    lines.add("");
  }

  void row(String... cells) {
    row(List.of(cells));
  }

  void row(List<String> cells) {
    lines.add("| " + String.join(" | ", cells) + " |");
  }

  /** The line below a header of columns of text, then of numbers. */
  void ruler(int texts, int numbers) {
    lines.add("|" + "---|".repeat(texts) + "---:|".repeat(numbers));
  }

  static String seconds(double value) {
    return number("%,.0f", value);
  }

  static String ratio(double value) {
    return number("%.3f", value);
  }

  static String share(double value) {
    return number("%.1f %%", 100 * value);
  }

  static String number(String format, double value) {
    return Double.isNaN(value) ? "–" : String.format(Locale.ROOT, format, value);
  }
}
