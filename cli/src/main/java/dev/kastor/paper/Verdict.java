package dev.kastor.paper;

import java.util.List;
import java.util.Locale;

/** Outcome of a comparison of our figures with a claim. */
public enum Verdict {
  REPRODUCED,
  PARTLY,
  REFUTED;

  /** The word that tables and JSON have. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The verdict on a paper: that of its claims where they agree, otherwise partly. */
  public static Verdict of(List<Verdict> claims) {
    if (claims.isEmpty()) {
      throw new IllegalArgumentException("a paper without measured claims has no verdict");
    }
    Verdict first = claims.getFirst();
    return claims.stream().allMatch(first::equals) ? first : PARTLY;
  }
}
