package dev.kastor.cli.terminal;

import java.io.PrintWriter;
import java.util.List;

/** Lines that replace each other on a terminal, and follow each other elsewhere. */
public final class Screen {
  private final PrintWriter out;
  private final boolean live;
  private final int width;
  private int shown;

  public Screen(PrintWriter out, boolean live) {
    this.out = out;
    this.live = live;
    this.width = live ? Paper.width() : Paper.ENDLESS;
  }

  /** Lines on a terminal of that width, each show below the last. */
  public Screen(PrintWriter out, int width) {
    this.out = out;
    this.live = false;
    this.width = width;
  }

  public void show(List<String> lines) {
    if (live && shown > 0) {
      out.print(ControlSequence.of(shown + "A") + ControlSequence.of("J"));
    }
    for (String line : lines) {
      out.println(Table.width(line) > width ? cut(line) : line);
    }
    out.flush();
    shown = lines.size();
  }

  /** Lets what is shown stand, and goes on below. */
  public void keep() {
    shown = 0;
  }

  /** A line that wrapped would take two rows, and the next show would then clear too few. */
  private String cut(String line) {
    StringBuilder kept = new StringBuilder();
    int used = 0;
    for (int i = 0; i < line.length() && used < width; i++) {
      if (line.startsWith(ControlSequence.MARK, i)) {
        int end = line.indexOf('m', i);
        kept.append(line, i, end + 1);
        i = end;
      } else {
        kept.append(line.charAt(i));
        used++;
      }
    }
    return kept + (Ink.enabled() ? Ink.PLAIN : "");
  }
}
