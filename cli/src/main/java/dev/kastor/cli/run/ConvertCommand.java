package dev.kastor.cli.run;

import dev.kastor.cli.local.Foreground;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kastor convert}. */
@Command(
    name = "convert",
    description = {
      "Shows the lines that make a plain PyTorch script elastic, as a unified diff.",
      "What the code does not say, and what would not hold, is named on standard error with its"
          + " line. The script is read and not run.",
      "Exit status 1 says that something is left to do by hand."
    },
    footerHeading = "%nExamples:%n",
    footer = {"  kastor convert train.py", "  kastor convert train.py | patch train.py"})
public final class ConvertCommand implements Callable<Integer> {
  @Option(
      names = "--python",
      paramLabel = "COMMAND",
      defaultValue = "python3",
      description = "Interpreter that has the package kastor (default: ${DEFAULT-VALUE}).")
  private String python = "python3";

  @Parameters(paramLabel = "SCRIPT", description = "Script with a loop over batches.")
  private Path script = Path.of("");

  @Override
  public Integer call() {
    return Foreground.run(
        () -> new PythonPackage(python).run("kastor.convert", List.of(script.toString())));
  }
}
