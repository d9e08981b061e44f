package dev.kastor.paper;

import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Statement of a paper.
 *
 * @param sentence what it says, with the published figures where they were read
 * @param source where it says so
 * @param certainty what was read of it
 * @param threshold when our figure bears it out; empty where it is not measured
 */
public record Claim(
    String sentence, String source, Certainty certainty, Optional<Threshold> threshold) {
  private static final Pattern DIGIT = Pattern.compile("[0-9]");

  public Claim {
    if (sentence.isBlank() || source.isBlank()) {
      throw new IllegalArgumentException(
          "a claim needs a sentence and a source, not '%s' and '%s'".formatted(sentence, source));
    }
    if (certainty == Certainty.RECALLED && DIGIT.matcher(sentence).find()) {
      throw new IllegalArgumentException(
          "a recalled claim has no figure, but this one has: '%s'. Read the paper first."
              .formatted(sentence));
    }
  }

  /** A claim that is not measured. */
  public static Claim unmeasured(String sentence, String source, Certainty certainty) {
    return new Claim(sentence, source, certainty, Optional.empty());
  }

  /** A claim with the threshold of our figure. */
  public static Claim of(String sentence, String source, Certainty certainty, Threshold threshold) {
    return new Claim(sentence, source, certainty, Optional.of(threshold));
  }
}
