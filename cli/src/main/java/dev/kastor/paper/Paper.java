package dev.kastor.paper;

import dev.kastor.plugin.Plugin;
import java.util.List;
import java.util.Optional;

/**
 * Research system that Kastor hosts or will host. Its description says how its claims are measured
 * here, or what is missing for that.
 */
public interface Paper extends Plugin {
  /** Name of the system, with authors, venue and year. */
  String title();

  /** What its paper says, the claim that matters most first; at least one. */
  List<Claim> claims();

  /** How the claims with a threshold are measured; empty while that is planned only. */
  default Optional<Reproduction> reproduction() {
    return Optional.empty();
  }

  /** Whether it can be run, as lists call it. */
  default String state() {
    return reproduction().isPresent() ? "runs" : "planned";
  }

  /** Those of the claims that are measured, in the same order. */
  default List<Claim> measured() {
    return claims().stream().filter(claim -> claim.threshold().isPresent()).toList();
  }
}
