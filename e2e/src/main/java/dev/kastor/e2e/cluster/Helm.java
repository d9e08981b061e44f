package dev.kastor.e2e.cluster;

import dev.kastor.testkit.Programs;
import java.nio.file.Path;
import java.util.Optional;

/** The command {@code helm}. */
public final class Helm {
  private static final Optional<Path> PROGRAM = Programs.find("helm");

  private Helm() {}

  /** Whether there is one. */
  static boolean found() {
    return PROGRAM.isPresent();
  }

  /** Where it is, as a command. */
  public static String program() {
    return PROGRAM
        .map(Path::toString)
        .orElseThrow(() -> new AssertionError("there is no helm on PATH"));
  }
}
