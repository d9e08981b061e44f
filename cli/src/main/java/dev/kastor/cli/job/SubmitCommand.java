package dev.kastor.cli.job;

import dev.kastor.cli.connect.ClusterOptions;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code kastor submit}. */
@Command(
    name = "submit",
    description = {
      "Submits TrainingJobs from YAML files.",
      "All files are checked first; if one is refused, nothing is submitted."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor submit -f examples/glyph-cnn.yaml",
      "  kastor submit -f a.yaml -f b.yaml --wait",
      "  generate-job | kastor submit -f -"
    })
public final class SubmitCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private ClusterOptions cluster = new ClusterOptions();

  @Option(
      names = {"-f", "--file"},
      paramLabel = "FILE",
      required = true,
      arity = "1..*",
      description = "YAML with one or more TrainingJobs; - for standard input.")
  private List<Path> files = List.of();

  @Option(names = "--wait", description = "Wait until all end; the exit status is 1 if one fails.")
  private boolean wait;

  @Override
  public Integer call() throws InterruptedException {
    return new Submission(cluster, spec.commandLine().getOut()).run(files, wait);
  }
}
