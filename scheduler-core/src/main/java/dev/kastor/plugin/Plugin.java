package dev.kastor.plugin;

import java.util.List;

/**
 * Replaceable part of Kastor with a name and options: a policy, a trace format, an optimizer.
 *
 * <p>One in a jar is a public class without constructor parameters that a file in {@code
 * META-INF/services} names. Immutable: what it creates may have state, a plug-in has none.
 */
public interface Plugin {
  /** Name by which users choose it: letters, digits, dots, dashes and underscores. */
  String name();

  /** One sentence for users, with a full stop. */
  String description();

  /** Options that users may set, in the order of its reference page. */
  default List<Option<?>> options() {
    return List.of();
  }
}
