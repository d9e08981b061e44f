package dev.kastor.cli.job;

import dev.kastor.cli.connect.ClusterOptions;
import java.util.List;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code kastor tag}. */
@Command(
    name = "tag",
    description = {
      "Sets and removes tags of a job, which are its labels; without a change, prints them.",
      "Jobs of a tag are chosen with --selector of other commands, such as ls and compare-runs."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor tag bert sweep=lr best=yes",
      "  kastor tag bert best-",
      "  kastor tag bert",
      "  kastor compare-runs -l sweep=lr"
    })
public final class TagCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  @ArgGroup(validate = false, heading = ClusterOptions.HEADING)
  private ClusterOptions cluster = new ClusterOptions();

  @Parameters(index = "0", paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  @Parameters(
      index = "1..*",
      arity = "0..*",
      paramLabel = "KEY=VALUE|KEY-",
      description = "Tag to set, or to remove.")
  private List<String> changes = List.of();

  @Override
  public void run() {
    Annotating annotating = new Annotating(cluster, spec.commandLine().getOut());
    if (changes.isEmpty()) {
      annotating.showTags(job);
    } else {
      annotating.tag(job, changes);
    }
  }
}
