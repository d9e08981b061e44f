package dev.kastor.cli.terminal;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.ParseResult;

/** Turns an exception into a line or two that say what to do, and an exit status. */
public final class Failures implements IExecutionExceptionHandler {
  @Override
  public int handleExecutionException(Exception e, CommandLine command, ParseResult parsed) {
    PrintWriter err = command.getErr();
    if (parsed.hasMatchedOption("--verbose")) {
      e.printStackTrace(err);
    }
    if (e instanceof UncheckedIOException output) {
      return unwritten(output.getCause(), err);
    }
    if (e instanceof FileSystemException file) {
      return broken(file) ? ExitCode.FAILED : tell(file.getFile() + ": " + reason(file), err);
    }
    if (e instanceof CliException failure) {
      tell(String.valueOf(failure.getMessage()), err);
      return failure.exitCode();
    }
    return tell(
        "%s: %s%s"
            .formatted(
                e.getClass().getSimpleName(),
                e.getMessage(),
                parsed.hasMatchedOption("--verbose") ? "" : ". Run it with --verbose for more."),
        err);
  }

  /** Says that standard output could not be written; nothing where its reader has seen enough. */
  public static int unwritten(@Nullable IOException why, PrintWriter err) {
    return why == null || broken(why)
        ? ExitCode.FAILED
        : tell("standard output cannot be written: " + why.getMessage(), err);
  }

  private static int tell(String message, PrintWriter err) {
    err.println(Ink.RED.on("kastor: ") + message);
    err.flush();
    return ExitCode.FAILED;
  }

  /** The reader of a pipe has ended, as {@code head} does; the system has no other word for it. */
  private static boolean broken(IOException e) {
    return String.valueOf(e.getMessage()).endsWith("Broken pipe");
  }

  private static String reason(FileSystemException e) {
    return switch (e) {
      case NoSuchFileException missing -> "there is no such file or folder";
      case AccessDeniedException denied -> "you may not read or write it";
      default -> String.valueOf(e.getReason());
    };
  }
}
