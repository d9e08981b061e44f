package dev.kastor.cli.job;

import dev.kastor.cli.connect.ClusterOptions;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code kastor submit}. */
@Command(
    name = "submit",
    description = {
      "Submits TrainingJobs from YAML files, or from all YAML files of a folder.",
      "Queues and ClusterTrainingProfiles are created, or changed to what the file says.",
      "All files are checked first; if one is refused, nothing is submitted. On the cluster of this"
          + " machine that includes the program, its parameters and the beginning of its data; paths"
          + " of data begin in this folder."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor submit examples/glyph-cnn.yaml",
      "  kastor submit a.yaml b.yaml --wait",
      "  kastor submit sweep/ --dry-run",
      "  kastor submit fine-tune.yaml --warm-start pretrain",
      "  kastor submit examples/queue.yaml",
      "  generate-job | kastor submit -f -"
    })
public final class SubmitCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @ArgGroup(validate = false, heading = ClusterOptions.HEADING)
  private ClusterOptions cluster = new ClusterOptions();

  @Option(
      names = {"-f", "--file"},
      paramLabel = "FILE",
      arity = "1..*",
      description = "The same as FILE, as kubectl has it.")
  private List<Path> files = List.of();

  @Parameters(
      paramLabel = "FILE",
      arity = "0..*",
      description = "YAML with one or more resources, a folder of such files, or - for input.")
  private List<Path> more = List.of();

  @Mixin private SubmitOptions options = new SubmitOptions();

  @Option(names = "--dry-run", description = "Have them checked, and submit nothing.")
  private boolean dryRun;

  @Option(
      names = "--no-check",
      description = "Do not check programs, parameters and data; paths stay as they are written.")
  private boolean noCheck;

  @Option(names = "--wait", description = "Wait until all end; the exit status is 1 if one fails.")
  private boolean wait;

  @Override
  public Integer call() throws InterruptedException {
    List<Path> all = Stream.concat(files.stream(), more.stream()).toList();
    if (all.isEmpty()) {
      throw new ParameterException(
          spec.commandLine(), "which file? Such as: kastor submit examples/glyph-cnn.yaml");
    }
    return new Submission(cluster, spec.commandLine().getOut(), spec.commandLine().getErr())
        .run(all, options, new Submission.Mode(!noCheck, dryRun, wait));
  }
}
