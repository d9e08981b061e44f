package dev.kastor.cli.terminal;

import java.io.IOException;
import java.time.Duration;
import org.jline.terminal.Attributes;
import org.jline.terminal.Terminal;
import org.jline.utils.NonBlockingReader;

/** Keys that are pressed on the terminal while it is open, each as soon as it is. */
public final class Keyboard implements AutoCloseable {
  /** Time that the rest of a key of several characters may take. */
  private static final long REST_MILLIS = 30;

  private static final int ESCAPE = 27;

  /** A key, as far as a table that scrolls needs them. */
  public enum Key {
    UP,
    DOWN,
    PAGE_UP,
    PAGE_DOWN,
    TOP,
    SORT,
    QUIT,
    OTHER,

    /** None was pressed in time. */
    NONE
  }

  private final Terminal terminal;
  private final Attributes before;

  private Keyboard(Terminal terminal) {
    this.terminal = terminal;
    before = terminal.enterRawMode();
  }

  /** Opens the terminal; closing it lets it be as it was. */
  public static Keyboard open() throws IOException {
    return new Keyboard(Paper.open());
  }

  /** Rows of the terminal. */
  public int rows() {
    return terminal.getSize().getRows();
  }

  /** Columns of the terminal. */
  public int columns() {
    return terminal.getSize().getColumns();
  }

  /** The next key. */
  public Key next(Duration patience) throws IOException {
    int read = terminal.reader().read(Math.max(1, patience.toMillis()));
    return switch (read) {
      case NonBlockingReader.READ_EXPIRED -> Key.NONE;
      case NonBlockingReader.EOF, 'q', 'Q' -> Key.QUIT;
      case 'k' -> Key.UP;
      case 'j' -> Key.DOWN;
      case ' ' -> Key.PAGE_DOWN;
      case 'b' -> Key.PAGE_UP;
      case 'g' -> Key.TOP;
      case 's', 'S' -> Key.SORT;
      case ESCAPE -> escaped();
      default -> Key.OTHER;
    };
  }

  private Key escaped() throws IOException {
    NonBlockingReader reader = terminal.reader();
    int kind = reader.read(REST_MILLIS);
    if (kind != '[' && kind != 'O') {
      return Key.OTHER;
    }
    int code = reader.read(REST_MILLIS);
    if (code == '5' || code == '6') {
      reader.read(REST_MILLIS);
    }
    return switch (code) {
      case 'A' -> Key.UP;
      case 'B' -> Key.DOWN;
      case '5' -> Key.PAGE_UP;
      case '6' -> Key.PAGE_DOWN;
      case 'H' -> Key.TOP;
      default -> Key.OTHER;
    };
  }

  @Override
  public void close() throws IOException {
    terminal.setAttributes(before);
    terminal.close();
  }
}
