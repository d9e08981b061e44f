package dev.kastor.testkit;

import java.util.Optional;
import org.opentest4j.AssertionFailedError;
import org.opentest4j.TestAbortedException;

/**
 * Part of a machine without which some tests cannot run.
 *
 * <p>Where it is absent such a test is skipped and says why; it fails where the environment
 * variable of the part, such as {@code KASTOR_REQUIRE_TRACES}, is true.
 */
public enum Requirement {
  /** Published traces, for conformance: {@link PublishedTraces}. */
  TRACES,
  /** The native library of the CPU backend. */
  ONEDNN,
  /** A compiler of C: {@link Programs#compilerOfC}. */
  GCC;

  /**
   * Skips or fails the test that calls it unless the part is there.
   *
   * @param absence says what is absent and how to get it
   */
  public void check(boolean there, String absence) {
    check(there, absence, "true".equals(System.getenv(variable())));
  }

  /** The part, or as {@link #check(boolean, String)}. */
  public <T> T of(Optional<T> part, String absence) {
    check(part.isPresent(), absence);
    return part.orElseThrow();
  }

  /** The environment variable by which it must be there. */
  public String variable() {
    return "KASTOR_REQUIRE_" + name();
  }

  void check(boolean there, String absence, boolean required) {
    if (!there) {
      if (required) {
        throw new AssertionFailedError("%s is true: %s".formatted(variable(), absence));
      }
      throw new TestAbortedException(absence);
    }
  }
}
