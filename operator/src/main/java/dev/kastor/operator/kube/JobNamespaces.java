package dev.kastor.operator.kube;

import dev.kastor.operator.config.OperatorConfig;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Set;

/** Namespaces whose jobs are run: those of {@code kastor.job-namespaces}, or all. Immutable. */
@Singleton
public final class JobNamespaces {
  private final Set<String> names;

  @Inject
  public JobNamespaces(OperatorConfig config) {
    this(Set.copyOf(config.jobNamespaces().orElse(List.of())));
  }

  /** These, or all if there are none. */
  public JobNamespaces(Set<String> names) {
    this.names = Set.copyOf(names);
  }

  boolean has(String namespace) {
    return names.isEmpty() || names.contains(namespace);
  }

  /** Their names; none for all. */
  Set<String> names() {
    return names;
  }
}
