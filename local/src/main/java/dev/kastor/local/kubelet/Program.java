package dev.kastor.local.kubelet;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A command line with its environment, looked at before it is run: what the system would refuse is
 * said by name.
 *
 * @param command program and arguments
 * @param environment the pod's own variables
 */
record Program(List<String> command, Map<String, String> environment) {
  /** Linux takes no longer argument or variable, whatever the sum: MAX_ARG_STRLEN. */
  private static final int MOST_BYTES = 131_072;

  private static final Optional<Path> SETSID =
      onPath("setsid", Optional.ofNullable(System.getenv("PATH")).orElse(""));

  Program {
    command = List.copyOf(command);
    environment = Map.copyOf(environment);
  }

  /**
   * Looks for what would keep it from ever starting.
   *
   * @param folder where it is to run
   * @param inheritedPath the {@code PATH} that it has unless it sets its own
   */
  void check(Path folder, String inheritedPath) throws NotStartable {
    for (String argument : command) {
      checkText("an argument of its command", argument);
    }
    for (Map.Entry<String, String> variable : environment.entrySet()) {
      String name = variable.getKey();
      if (name.isEmpty() || name.indexOf('=') >= 0 || name.indexOf('\0') >= 0) {
        throw NotStartable.ever("\"%s\" cannot be the name of a variable".formatted(name));
      }
      checkText("variable " + name, name + "=" + variable.getValue());
    }
    String program = command.isEmpty() ? "" : command.getFirst();
    if (program.isEmpty()) {
      throw NotStartable.ever("its command names no program");
    }
    if (program.indexOf('/') >= 0) {
      if (!runnable(folder.resolve(program))) {
        throw NotStartable.ever(
            "there is no program %s that may be run on this machine".formatted(program));
      }
    } else if (onPath(program, environment.getOrDefault("PATH", inheritedPath)).isEmpty()) {
      throw NotStartable.ever(
          "there is no program %s on PATH. Local mode runs what is installed on this machine, not"
                  .formatted(program)
              + " what is in an image: install it, or give its path");
    }
  }

  /** The command line that runs it as the first process of a new session. */
  List<String> inItsOwnSession() {
    List<String> line = new ArrayList<>();
    SETSID.ifPresent(setsid -> line.add(setsid.toString()));
    line.addAll(command);
    return line;
  }

  private static void checkText(String what, String text) throws NotStartable {
    if (text.indexOf('\0') >= 0) {
      throw NotStartable.ever(what + " holds a NUL character, which no program can be given");
    }
    if (text.length() >= MOST_BYTES) {
      throw NotStartable.ever(
          "%s is too long: %d characters, and a program can be given %d bytes"
              .formatted(what, text.length(), MOST_BYTES));
    }
  }

  private static Optional<Path> onPath(String program, String path) {
    for (String folder : path.split(File.pathSeparator, -1)) {
      if (!folder.isEmpty() && runnable(Path.of(folder, program))) {
        return Optional.of(Path.of(folder, program));
      }
    }
    return Optional.empty();
  }

  private static boolean runnable(Path file) {
    return Files.isRegularFile(file) && Files.isExecutable(file);
  }
}
