package dev.kastor.cli.terminal;

import dev.kastor.text.PrintableText;
import java.util.ArrayList;
import java.util.List;

/**
 * Text broken at blanks into lines of a width; a word that is longer stands as it is. It is one
 * line before: breaks that others wrote into it are blanks.
 */
public final class Wrapped {
  private Wrapped() {}

  /** At least one line. */
  public static List<String> lines(String written, int width) {
    String text = PrintableText.line(written);
    if (Table.width(text) <= width) {
      return List.of(text);
    }
    List<String> lines = new ArrayList<>();
    StringBuilder line = new StringBuilder();
    for (String word : text.split(" ", -1)) {
      if (!line.isEmpty() && Table.width(line.toString()) + 1 + Table.width(word) > width) {
        lines.add(line.toString());
        line.setLength(0);
      }
      line.append(line.isEmpty() ? "" : " ").append(word);
    }
    lines.add(line.toString());
    return lines;
  }
}
