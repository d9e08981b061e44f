package dev.kastor.cli.terminal;

import java.io.IOException;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;

/** Width of what a person reads. */
public final class Paper {
  /** No limit: the output goes to a file or another program. */
  public static final int ENDLESS = Integer.MAX_VALUE;

  private static final int UNKNOWN_TERMINAL = 160;

  private Paper() {}

  /** Columns of the terminal; {@link #ENDLESS} where nobody watches. */
  public static int width() {
    return Ink.watched() ? terminal() : ENDLESS;
  }

  /** The terminal, which is not asked what it can do: its answers would mix with what is typed. */
  static Terminal open() throws IOException {
    return TerminalBuilder.builder().system(true).dumb(true).graphemeCluster(false).build();
  }

  private static int terminal() {
    try (Terminal terminal = open()) {
      int columns = terminal.getSize().getColumns();
      return columns > 0 ? columns : UNKNOWN_TERMINAL;
    } catch (IOException e) {
      return UNKNOWN_TERMINAL;
    }
  }
}
