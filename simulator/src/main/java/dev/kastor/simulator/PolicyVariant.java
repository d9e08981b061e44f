package dev.kastor.simulator;

import dev.kastor.scheduler.policy.kastor.KastorOptions;

/**
 * Kastor's own policy with other knobs than usual; other policies know no variants.
 *
 * @param name what is different, in a few words; empty for nothing
 * @param options its knobs
 */
public record PolicyVariant(String name, KastorOptions options) {
  /** As it is used. */
  public static final PolicyVariant USUAL = new PolicyVariant("", KastorOptions.DEFAULT);

  public PolicyVariant {
    if (name.isEmpty() != options.equals(KastorOptions.DEFAULT)) {
      throw new IllegalArgumentException(
          "variant '%s' has the options %s. Name a variant that differs from the usual one, and no other."
              .formatted(name, options));
    }
  }
}
