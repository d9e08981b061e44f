package dev.kastor.cli.job;

import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.crds.trainingjob.Note;
import dev.kastor.text.PrintableText;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Notes and tags as people give them to a command, checked before they are sent. */
final class NotesAndTags {
  /** As Kubernetes has it: a name of at most 63 characters, behind a domain and a slash if any. */
  private static final Pattern KEY =
      Pattern.compile(
          "(?:[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?");

  private static final Pattern VALUE =
      Pattern.compile("(?:[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?");

  private static final String OURS = "kastor.dev/";

  private NotesAndTags() {}

  /** The note as one line that can be printed; empty if there is nothing in it. */
  static String note(String text) {
    String note = PrintableText.line(text).strip();
    if (!Note.fits(note)) {
      throw new CliException(
          ExitCode.USAGE,
          "a note has at most %d characters, but this one %d. Keep a longer text in a file of yours, and its name in the note"
              .formatted(Note.MOST_CHARACTERS, note.codePointCount(0, note.length())));
    }
    return note;
  }

  /**
   * Adds a tag.
   *
   * @param text {@code KEY=VALUE}, or {@code KEY-} to remove one
   * @param removes whether one may be removed
   * @param into values by key; null for those to be removed
   */
  static void addTag(String text, boolean removes, Map<String, @Nullable String> into) {
    int equals = text.indexOf('=');
    boolean removed = removes && equals < 0 && text.endsWith("-");
    String key =
        equals >= 0
            ? text.substring(0, equals)
            : removed ? text.substring(0, text.length() - 1) : text;
    if (equals < 0 && !removed) {
      throw refused(
          text,
          "must be KEY=VALUE" + (removes ? ", or KEY- to remove one" : "") + ", such as run=3");
    }
    if (!KEY.matcher(key).matches()) {
      throw refused(
          text,
          "a key has 1 to 63 letters, digits, '.', '_' and '-', beginning and ending with a letter or digit");
    }
    if (key.startsWith(OURS)) {
      throw refused(text, "labels kastor.dev/… are the operator's. Take a key of your own");
    }
    String value = removed ? null : text.substring(equals + 1);
    if (value != null && !VALUE.matcher(value).matches()) {
      throw refused(
          text,
          "a value has at most 63 letters, digits, '.', '_' and '-', beginning and ending with a letter or digit. Longer words go into a note: kastor note JOB TEXT");
    }
    if (into.containsKey(key)) {
      throw refused(text, "this key is given twice");
    }
    into.put(key, value);
  }

  private static CliException refused(String tag, String why) {
    return new CliException(ExitCode.USAGE, "tag %s: %s".formatted(tag, why));
  }
}
