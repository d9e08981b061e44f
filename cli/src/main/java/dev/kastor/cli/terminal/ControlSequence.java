package dev.kastor.cli.terminal;

import java.security.SecureRandom;
import java.util.regex.Pattern;

/**
 * Control sequence of a terminal that this command means to print: a colour, or a move of the
 * cursor.
 *
 * <p>On its way to the output it begins with a mark that nobody outside this process can know, as
 * it is drawn anew by each; {@link TerminalOutput} turns marks into the characters that a terminal
 * acts on and prints no others. What others wrote can so never act.
 */
public final class ControlSequence {
  /** What a terminal takes for the beginning. */
  static final String INTRODUCER = "\033[";

  /** What it begins with until it is printed. */
  static final String MARK = mark();

  static final Pattern COLOUR = Pattern.compile(MARK + "[0-9;]*m");

  private static final int PRIVATE_USE = 0xE000;
  private static final int PRIVATE_USE_SIZE = 6400;
  private static final int MARK_LENGTH = 8;

  private ControlSequence() {}

  /** The sequence of what follows the introducer, such as {@code 31m}. */
  public static String of(String code) {
    return MARK + code;
  }

  private static String mark() {
    SecureRandom random = new SecureRandom();
    StringBuilder mark = new StringBuilder();
    for (int i = 0; i < MARK_LENGTH; i++) {
      mark.append((char) (PRIVATE_USE + random.nextInt(PRIVATE_USE_SIZE)));
    }
    return mark.toString();
  }
}
