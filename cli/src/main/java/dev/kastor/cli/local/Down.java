package dev.kastor.cli.local;

import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.local.LocalException;
import dev.kastor.local.StateFolder;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Ends the local cluster of KASTOR_HOME from another process. */
final class Down {
  private static final Duration PATIENCE = Duration.ofSeconds(40);

  private final PrintWriter out;

  Down(PrintWriter out) {
    this.out = out;
  }

  void run() {
    Path home = StateFolder.home();
    if (!Files.isDirectory(home) || unused(home)) {
      out.println("nothing runs on " + home);
      out.flush();
      return;
    }
    ProcessHandle process =
        running(home)
            .orElseThrow(() ->
                new CliException(
                    ExitCode.FAILED,
                    "something uses %s but does not say which process it is".formatted(home)));
    process.destroy();
    try {
      process.onExit().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new CliException(
          ExitCode.FAILED,
          "process %d does not end. End it by hand: kill -9 %d"
              .formatted(process.pid(), process.pid()),
          e);
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    out.println("stopped");
    out.flush();
  }

  private static boolean unused(Path home) {
    try (StateFolder state = StateFolder.lock(home)) {
      return state.root().equals(home);
    } catch (LocalException e) {
      return false;
    } catch (IOException e) {
      throw new CliException(
          ExitCode.FAILED, "cannot look at %s: %s".formatted(home, e.getMessage()), e);
    }
  }

  private static Optional<ProcessHandle> running(Path home) {
    try {
      return ProcessHandle.of(Long.parseLong(Files.readString(StateFolder.pidFile(home)).strip()));
    } catch (IOException | NumberFormatException e) {
      return Optional.empty();
    }
  }
}
