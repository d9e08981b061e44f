package dev.kastor.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Rows of text in columns as wide as their widest cell; colour codes take no room. */
final class Table {
  private static final Pattern COLOUR = Pattern.compile("\033\\[[0-9;]*m");
  private static final String GAP = "  ";

  private final List<List<String>> rows = new ArrayList<>();
  private int rightFrom = Integer.MAX_VALUE;

  Table(String... header) {
    List<String> cells = new ArrayList<>();
    for (String title : header) {
      cells.add(Ink.DIM.on(title));
    }
    rows.add(cells);
  }

  /** Columns from this one on, counted from 0, end where their widest cell ends. */
  Table rightFrom(int column) {
    rightFrom = column;
    return this;
  }

  Table row(List<String> cells) {
    rows.add(List.copyOf(cells));
    return this;
  }

  List<String> lines() {
    int columns = rows.getFirst().size();
    int[] widths = new int[columns];
    for (List<String> row : rows) {
      for (int i = 0; i < columns; i++) {
        widths[i] = Math.max(widths[i], width(row.get(i)));
      }
    }
    List<String> lines = new ArrayList<>();
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < columns; i++) {
        String cell = row.get(i);
        int room = widths[i] - width(cell);
        if (i >= rightFrom) {
          line.repeat(' ', room).append(cell);
        } else {
          line.append(cell);
        }
        if (i < columns - 1) {
          line.repeat(' ', i >= rightFrom ? 0 : room).append(GAP);
        }
      }
      lines.add(line.toString());
    }
    return lines;
  }

  static int width(String text) {
    return COLOUR.matcher(text).replaceAll("").length();
  }
}
