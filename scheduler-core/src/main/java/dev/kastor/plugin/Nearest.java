package dev.kastor.plugin;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** Name that somebody may have meant who wrote another. */
public final class Nearest {
  private Nearest() {}

  /**
   * The known name that is most like a written one: in which a third of the letters at most are
   * missing, added, other ones or exchanged with their neighbour; upper and lower case are the
   * same.
   */
  public static Optional<String> of(String written, Collection<String> known) {
    int most = Math.max(1, written.length() / 3);
    return known.stream()
        .filter(name -> distance(written, name) <= most)
        .min(Comparator.comparingInt(name -> distance(written, name)));
  }

  /** The end of a message that names what is known: a question, or nothing if none is like it. */
  public static String question(String written, Collection<String> known) {
    return of(written, known).map(". Did you mean %s?"::formatted).orElse("");
  }

  /**
   * Changes from one text to the other: Damerau, "A technique for computer detection and correction
   * of spelling errors", CACM 1964, in the restricted form, which changes no letter twice.
   */
  private static int distance(String written, String known) {
    String a = written.toLowerCase(Locale.ROOT);
    String b = known.toLowerCase(Locale.ROOT);
    int[][] changes = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      for (int j = 0; j <= b.length(); j++) {
        changes[i][j] = i == 0 || j == 0 ? i + j : least(changes, a, b, i, j);
      }
    }
    return changes[a.length()][b.length()];
  }

  private static int least(int[][] changes, String a, String b, int i, int j) {
    boolean same = a.charAt(i - 1) == b.charAt(j - 1);
    int least =
        Math.min(
            Math.min(changes[i - 1][j], changes[i][j - 1]) + 1,
            changes[i - 1][j - 1] + (same ? 0 : 1));
    boolean exchanged =
        i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1);
    return exchanged ? Math.min(least, changes[i - 2][j - 2] + 1) : least;
  }
}
