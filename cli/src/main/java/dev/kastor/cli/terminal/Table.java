package dev.kastor.cli.terminal;

import dev.kastor.text.PrintableText;
import java.util.ArrayList;
import java.util.List;

/**
 * Rows of text in columns as wide as their widest cell; colour codes take no room. On paper that is
 * too narrow, columns that may be left out go first; then cells of one column lose their middle,
 * and at last the last column goes on in further lines.
 */
public final class Table {
  private static final String GAP = "  ";
  private static final int LEAST_WRAPPED = 20;
  private static final int LEAST_SHORTENED = 12;

  private final List<List<String>> rows = new ArrayList<>();
  private final List<Integer> optional = new ArrayList<>();
  private int rightFrom = Integer.MAX_VALUE;
  private int shortened = -1;

  public Table(String... header) {
    List<String> cells = new ArrayList<>();
    for (String title : header) {
      cells.add(Ink.DIM.on(title));
    }
    rows.add(cells);
  }

  /** Columns from this one on, counted from 0, end where their widest cell ends. */
  public Table rightFrom(int column) {
    rightFrom = column;
    return this;
  }

  /** Columns, counted from 0, that narrow paper goes without; the first named goes first. */
  public Table optional(int... columns) {
    for (int column : columns) {
      optional.add(column);
    }
    return this;
  }

  /** A column, counted from 0, whose cells narrow paper shows without their middle. */
  public Table shorten(int column) {
    shortened = column;
    return this;
  }

  public Table row(List<String> cells) {
    rows.add(cells.stream().map(PrintableText::line).toList());
    return this;
  }

  public List<String> lines() {
    return lines(Paper.ENDLESS);
  }

  /** The lines, none wider than {@code paper} where that can be had. */
  public List<String> lines(int paper) {
    int[] widths = widths();
    List<Integer> columns = new ArrayList<>();
    for (int i = 0; i < widths.length; i++) {
      columns.add(i);
    }
    for (int i = 0; i < optional.size() && total(columns, widths) > paper; i++) {
      columns.removeIf(optional.get(i)::equals);
    }
    int excess = total(columns, widths) - paper;
    if (shortened >= 0 && excess > 0) {
      int least = Math.min(widths[shortened], LEAST_SHORTENED);
      widths[shortened] = Math.max(least, widths[shortened] - excess);
    }
    int last = columns.getLast();
    int before = total(columns, widths) - widths[last];
    if (before + widths[last] > paper && last < rightFrom) {
      widths[last] = Math.max(LEAST_WRAPPED, paper - before);
    }
    List<String> lines = new ArrayList<>();
    for (List<String> row : rows) {
      List<String> parts = Wrapped.lines(row.get(last), widths[last]);
      lines.add(line(row, parts.getFirst(), columns, widths));
      parts.stream().skip(1).forEach(part -> lines.add(" ".repeat(before) + part));
    }
    return lines;
  }

  private int[] widths() {
    int[] widths = new int[rows.getFirst().size()];
    for (List<String> row : rows) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], width(row.get(i)));
      }
    }
    return widths;
  }

  private static int total(List<Integer> columns, int[] widths) {
    return columns.stream().mapToInt(c -> widths[c]).sum() + GAP.length() * (columns.size() - 1);
  }

  private String line(List<String> row, String end, List<Integer> columns, int[] widths) {
    StringBuilder line = new StringBuilder();
    for (int i : columns) {
      boolean last = i == columns.getLast();
      String cell = last ? end : i == shortened ? shortened(row.get(i), widths[i]) : row.get(i);
      int room = widths[i] - width(cell);
      if (i >= rightFrom) {
        line.repeat(' ', room).append(cell);
      } else {
        line.append(cell);
      }
      if (!last) {
        line.repeat(' ', i >= rightFrom ? 0 : room).append(GAP);
      }
    }
    return line.toString();
  }

  /** The text, or its beginning and its end where it is too wide. */
  private static String shortened(String text, int width) {
    if (width(text) <= width) {
      return text;
    }
    int end = (width - 1) / 2;
    return text.substring(0, width - 1 - end) + "…" + text.substring(text.length() - end);
  }

  static int width(String text) {
    return ControlSequence.COLOUR.matcher(text).replaceAll("").length();
  }
}
