package dev.kastor.cli.terminal;

import picocli.CommandLine.Option;

/** Option that says how an answer is printed. */
public final class OutputOptions {
  @Option(
      names = {"-o", "--output"},
      paramLabel = "json|yaml|wide|name",
      defaultValue = "table",
      description = "Format; a table by default.")
  private Output output = Output.TABLE;

  @Option(names = "--json", description = "The same as -o json.")
  private boolean json;

  public Output output() {
    return json ? Output.JSON : output;
  }
}
