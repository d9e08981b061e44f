package dev.kastor.cli.predict;

import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.terminal.OutputOptions;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code kastor predict}. */
@Command(
    name = "predict",
    description = {
      "Predicts with a model that kastor export wrote as ONNX: the class of an image (PNG, JPEG),",
      "of each row of a CSV file, or the byte that follows a text. It needs ONNX Runtime,",
      "43 MB that no release has; --install downloads it once from Maven Central."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor predict --install",
      "  kastor predict digits.onnx seven.png",
      "  kastor predict churn.onnx customers.csv -o json"
    })
public final class PredictCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "MODEL",
      description = "File of the model, such as digits.onnx.")
  private @Nullable Path model;

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "FILE",
      description = "Image, CSV file with the columns of the training data, or text.")
  private @Nullable Path file;

  @Option(
      names = "--top",
      paramLabel = "N",
      defaultValue = "3",
      description = "Classes to print of each example (default: ${DEFAULT-VALUE}).")
  private int top = 3;

  @Option(names = "--install", description = "Install ONNX Runtime in the user's cache.")
  private boolean install;

  @Mixin private OutputOptions output = new OutputOptions();

  @Override
  public void run() {
    var out = spec.commandLine().getOut();
    if (install) {
      Path place = OnnxRuntimeJar.place(System.getenv());
      OnnxRuntimeJar.install(place);
      out.println("installed " + place);
      out.flush();
      return;
    }
    if (model == null || file == null || top < 1) {
      throw new CliException(
          ExitCode.USAGE, "name a model and a file, such as: kastor predict digits.onnx seven.png");
    }
    if (!OnnxRuntimeJar.isThere()) {
      throw new CliException(
          ExitCode.FAILED,
          "ONNX Runtime is not installed. Install it with: kastor predict --install");
    }
    new Predictions(model, top).print(file, output.output(), out);
  }
}
