package dev.kastor.paper;

import java.util.Locale;

/** Source of what is known of a claim. */
public enum Certainty {
  TEXT("read in the paper's text"),
  ABSTRACT("read in the paper's abstract"),
  CODE("read in the authors' code and results"),
  NOTES("read in slides or notes of others"),
  RECALLED("recalled, not read; no figure is the paper's");

  private final String sentence;

  Certainty(String sentence) {
    this.sentence = sentence;
  }

  /** The word that JSON has. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Sentence about what of the source was read. */
  public String sentence() {
    return sentence;
  }
}
