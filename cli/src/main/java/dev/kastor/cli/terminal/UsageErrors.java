package dev.kastor.cli.terminal;

import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Turns wrong arguments into a line that says what is wrong and one that says where help is. */
public final class UsageErrors implements IParameterExceptionHandler {
  private static final Pattern ENUM_VALUES =
      Pattern.compile("expected one of \\[([A-Z_, ]+)] \\(case-insensitive\\)");

  @Override
  public int handleParseException(ParameterException e, String[] arguments) {
    CommandLine command = e.getCommandLine();
    PrintWriter err = command.getErr();
    String name = command.getCommandSpec().qualifiedName();
    err.println(Ink.RED.on("kastor: ") + message(e));
    if (e instanceof UnmatchedArgumentException unknown) {
      List<String> meant = unknown.getSuggestions();
      if (!meant.isEmpty()) {
        err.println(
            "Did you mean: "
                + meant.stream()
                    .map(word -> word.startsWith("-") ? word : name + " " + word)
                    .collect(Collectors.joining(", ")));
      }
    }
    err.println("Help: %s --help".formatted(name));
    err.flush();
    return ExitCode.USAGE;
  }

  /** Values of enums as the options' descriptions spell them. */
  private static String message(ParameterException e) {
    return ENUM_VALUES
        .matcher(String.valueOf(e.getMessage()))
        .replaceAll(found -> "expected one of " + found.group(1).toLowerCase(Locale.ROOT));
  }
}
