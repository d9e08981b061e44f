package dev.kastor.text;

import java.util.function.IntUnaryOperator;

/**
 * Text without characters that act on whoever shows it: control characters, which move a cursor,
 * rename a window or end a line (C0, C1 and DEL), and those that turn the direction of what follows
 * (Unicode's bidirectional controls).
 *
 * <p>Each becomes one character, so that columns stay: a blank for what only separates, else {@link
 * #REPLACEMENT}.
 */
public final class PrintableText {
  /** The character that shows that something was there. */
  public static final char REPLACEMENT = '\uFFFD';

  private PrintableText() {}

  /** The text as one line: breaks and tabs become blanks. */
  public static String line(String text) {
    return mapped(text, c -> breaks(c) || c == '\t' ? ' ' : printable(c));
  }

  /** The text with its lines and tabs. */
  public static String lines(String text) {
    return mapped(text, c -> c == '\n' || c == '\t' ? c : breaks(c) ? ' ' : printable(c));
  }

  /**
   * The text as one entry of a log: lines after the first begin with a tab, as no entry does, so
   * that nothing in it can be taken for another entry.
   */
  public static String entry(String text) {
    String lines = lines(text);
    int end = lines.endsWith("\n") ? lines.length() - 1 : lines.length();
    return lines.indexOf('\n') >= end || lines.indexOf('\n') < 0
        ? lines
        : lines.substring(0, end).replaceAll("\n\t?", "\n\t") + lines.substring(end);
  }

  private static String mapped(String text, IntUnaryOperator rule) {
    for (int i = 0; i < text.length(); i++) {
      if (rule.applyAsInt(text.charAt(i)) != text.charAt(i)) {
        StringBuilder mapped = new StringBuilder(text);
        for (int j = i; j < text.length(); j++) {
          mapped.setCharAt(j, (char) rule.applyAsInt(text.charAt(j)));
        }
        return mapped.toString();
      }
    }
    return text;
  }

  private static int printable(int c) {
    return Character.isISOControl(c) || turns(c) ? REPLACEMENT : c;
  }

  /** Feeds, returns, and the separators of lines and paragraphs (NEL, LS, PS). */
  private static boolean breaks(int c) {
    return (c >= '\n' && c <= '\r') || c == 0x85 || c == 0x2028 || c == 0x2029;
  }

  /** Embeddings, overrides, isolates and marks (Unicode Standard Annex 9, section 2). */
  private static boolean turns(int c) {
    return (c >= 0x202A && c <= 0x202E)
        || (c >= 0x2066 && c <= 0x2069)
        || c == 0x200E
        || c == 0x200F
        || c == 0x061C;
  }
}
