package dev.kastor.cli;

/** What the command's exit status says. */
final class ExitCode {
  static final int OK = 0;

  /** A job failed, or something went wrong on the way. */
  static final int FAILED = 1;

  /** Wrong arguments, or a file that the cluster refuses. */
  static final int USAGE = 2;

  /** No cluster answers. */
  static final int UNREACHABLE = 3;

  /** No such job. */
  static final int NOT_FOUND = 4;

  private ExitCode() {}
}
