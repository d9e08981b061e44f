package dev.kastor.training;

import dev.kastor.plugin.Plugin;
import java.util.List;
import java.util.Set;

/** Plug-in of training that is used together with others, of its kind and of other kinds. */
public interface Feature extends Plugin {
  /** Names of features beside which this one makes no sense. Saying it on one side is enough. */
  default Set<String> excludes() {
    return Set.of();
  }

  /** Whether one of both excludes the other. */
  default boolean isExclusiveOf(Feature other) {
    return excludes().contains(other.name()) || other.excludes().contains(name());
  }

  /**
   * Checks that some features make sense together.
   *
   * @throws IllegalArgumentException if two of them do not; the message names both
   */
  static void checkTogether(List<? extends Feature> chosen) {
    for (int i = 0; i < chosen.size(); i++) {
      for (int j = 0; j < i; j++) {
        Feature one = chosen.get(j);
        Feature other = chosen.get(i);
        if (one.isExclusiveOf(other)) {
          throw new IllegalArgumentException(
              "%s and %s make no sense together. Choose one of them."
                  .formatted(one.name(), other.name()));
        }
      }
    }
  }
}
