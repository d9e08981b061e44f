package dev.kastor.cli.run;

import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Package kastor of a Python interpreter; some commands of Kastor's run its modules. */
record PythonPackage(String interpreter) {
  private static final long END_SECONDS = 20;
  private static final String FINDS =
      "import importlib.util, sys; sys.exit(importlib.util.find_spec('kastor') is None)";

  /**
   * Package of the program that starts a script, or of the path's interpreter if it is no Python.
   */
  static PythonPackage of(String program) {
    boolean python = Path.of(program).getFileName().toString().startsWith("python");
    return new PythonPackage(python ? program : "python3");
  }

  /** Runs a module of the package with what it reads and writes; its exit status. */
  int run(String module, List<String> arguments) throws IOException, InterruptedException {
    if (run(List.of(interpreter, "-c", FINDS)) != 0) {
      throw new CliException(
          ExitCode.USAGE,
          "%s does not find the package kastor. Install it: kastor wheel, then pip install what it wrote (docs/pytorch.md)"
              .formatted(interpreter));
    }
    List<String> command = new ArrayList<>(List.of(interpreter, "-m", module));
    command.addAll(arguments);
    return run(command);
  }

  private static int run(List<String> command) throws IOException, InterruptedException {
    Process process;
    try {
      process = new ProcessBuilder(command).inheritIO().start();
    } catch (IOException e) {
      throw new CliException(
          ExitCode.USAGE, "cannot start %s: %s".formatted(command.getFirst(), e.getMessage()), e);
    }
    try {
      return process.waitFor();
    } finally {
      // It ends the processes that it has started before it ends itself.
      process.destroy();
      process.waitFor(END_SECONDS, TimeUnit.SECONDS);
    }
  }
}
