package dev.kastor.local.api;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

/**
 * Checks behind {@code /readyz}, which answers in the words of a Kubernetes server: {@code ok}, or
 * a line for each check.
 */
public final class Readiness {
  private final List<Check> checks = new CopyOnWriteArrayList<>();

  Readiness() {}

  /** Adds a check that says why something is not well; empty while it is. */
  public void add(String name, Supplier<Optional<String>> failure) {
    checks.add(new Check(name, failure));
  }

  Answer look(boolean verbose) {
    StringBuilder text = new StringBuilder();
    boolean ready = true;
    for (Check check : checks) {
      Optional<String> failure = check.failure().get();
      ready &= failure.isEmpty();
      text.append(
          failure.isEmpty()
              ? "[+]%s ok%n".formatted(check.name())
              : "[-]%s failed: %s%n".formatted(check.name(), failure.get()));
    }
    text.append("readyz check ").append(ready ? "passed" : "failed").append('\n');
    return new Answer(ready, ready && !verbose ? "ok" : text.toString());
  }

  private record Check(String name, Supplier<Optional<String>> failure) {}

  /**
   * Answer to a question for readiness.
   *
   * @param ready whether all checks are well
   * @param text the answer's body
   */
  record Answer(boolean ready, String text) {}
}
