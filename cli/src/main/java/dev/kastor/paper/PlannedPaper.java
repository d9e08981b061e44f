package dev.kastor.paper;

import java.util.List;

/**
 * Research system that is not hosted yet.
 *
 * @param name by which users choose it
 * @param title what it is called, with authors, venue and year
 * @param description what is missing, one sentence
 * @param claims none of which is measured
 */
public record PlannedPaper(String name, String title, String description, List<Claim> claims)
    implements Paper {
  public PlannedPaper {
    claims = List.copyOf(claims);
  }

  /** One with a single claim. */
  public PlannedPaper(String name, String title, String description, Claim claim) {
    this(name, title, description, List.of(claim));
  }
}
