package dev.kastor.cli.terminal;

/** Exit statuses of the command. */
public final class ExitCode {
  public static final int OK = 0;

  /** A job failed, or something went wrong on the way. */
  public static final int FAILED = 1;

  /** Wrong arguments, or a file that the cluster refuses. */
  public static final int USAGE = 2;

  /** No cluster answers. */
  public static final int UNREACHABLE = 3;

  /** No such job. */
  public static final int NOT_FOUND = 4;

  private ExitCode() {}
}
