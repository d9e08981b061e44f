package dev.kastor.cli;

import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.ParseResult;

/** Turns an exception into a line or two that say what to do, and an exit status. */
final class Failures implements IExecutionExceptionHandler {
  @Override
  public int handleExecutionException(Exception e, CommandLine command, ParseResult parsed) {
    PrintWriter err = command.getErr();
    if (parsed.hasMatchedOption("--verbose")) {
      e.printStackTrace(err);
    }
    CliException failure =
        e instanceof CliException known
            ? known
            : new CliException(
                ExitCode.FAILED,
                "%s: %s%s"
                    .formatted(
                        e.getClass().getSimpleName(),
                        e.getMessage(),
                        parsed.hasMatchedOption("--verbose")
                            ? ""
                            : ". Run it with --verbose for more."));
    err.println(Ink.RED.on("kastor: ") + failure.getMessage());
    err.flush();
    return failure.exitCode();
  }
}
