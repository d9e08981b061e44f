package dev.kastor.crds.trainingjob;

import java.util.Map;
import java.util.Optional;

/** Note of a person on a job, in the annotation {@value #ANNOTATION}. */
public final class Note {
  public static final String ANNOTATION = "kastor.dev/note";

  /** Characters that are shown of one, and more than which no command writes. */
  public static final int MOST_CHARACTERS = 1_000;

  private Note() {}

  /** The note as it was written, but for what is beyond the bound; empty if there is none. */
  public static Optional<String> of(TrainingJob job) {
    Map<String, String> annotations = job.getMetadata().getAnnotations();
    return Optional.ofNullable(annotations == null ? null : annotations.get(ANNOTATION))
        .filter(text -> !text.isBlank())
        .map(text -> fits(text) ? text : start(text) + "…");
  }

  /** Whether a text is no longer than a note may be. */
  public static boolean fits(String text) {
    return text.codePointCount(0, text.length()) <= MOST_CHARACTERS;
  }

  private static String start(String text) {
    return text.substring(0, text.offsetByCodePoints(0, MOST_CHARACTERS));
  }
}
