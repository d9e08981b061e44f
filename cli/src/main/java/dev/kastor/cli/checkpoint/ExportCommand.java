package dev.kastor.cli.checkpoint;

import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.engine.export.ExportFormat;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code kastor export}. */
@Command(
    name = "export",
    description = {
      "Writes what a job has trained in an open format: its parameters by name, and as ONNX with",
      "the graph that predicts. It takes the newest checkpoint of a job that runs or has ended,",
      "and reads the job's data again for the classes and the scale of features. Of a script that",
      "uses the kastor package, it writes the state_dict of the model as safetensors."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor export digits",
      "  kastor export digits -o digits.onnx",
      "  kastor export digits --step 400 --format npz -o digits.npz"
    })
public final class ExportCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  @ArgGroup(validate = false, heading = ClusterOptions.HEADING)
  private ClusterOptions cluster = new ClusterOptions();

  /** Options of the job, its checkpoint and the format. */
  static final class Options {
    @Option(
        names = "--format",
        paramLabel = "safetensors|onnx|npz",
        description = "Format (default: what FILE ends in, else safetensors).")
    private @Nullable ExportFormat format;

    @Option(names = "--step", paramLabel = "N", description = "The checkpoint of this step.")
    private @Nullable Long step;

    @Option(
        names = "--checkpoint",
        paramLabel = "CKPT",
        description = "A copy of a checkpoint of the job, such as one from a cluster's volume.")
    private @Nullable Path checkpoint;

    @Option(
        names = {"-o", "--out"},
        paramLabel = "FILE",
        description = "File to write (default: JOB and the format).")
    private @Nullable Path out;

    @Nullable ExportFormat format() {
      return format;
    }

    @Nullable Long step() {
      return step;
    }

    @Nullable Path checkpoint() {
      return checkpoint;
    }

    @Nullable Path out() {
      return out;
    }
  }

  @Mixin private Options options = new Options();

  @Parameters(paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  @Override
  public void run() {
    new Export(cluster, spec.commandLine().getOut()).run(job, options);
  }
}
