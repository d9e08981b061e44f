package dev.kastor.cli.job;

import dev.kastor.cli.connect.ClusterOptions;
import java.util.List;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code kastor note}. */
@Command(
    name = "note",
    description = {
      "Writes a note to a job, which describe and compare-runs show; without a text, prints it.",
      "An empty text removes it. A note has one line of at most 1000 characters."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor note bert \"warm-up of 2000 steps; loss jumps at 8k\"",
      "  kastor note bert",
      "  kastor note bert \"\""
    })
public final class NoteCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  @ArgGroup(validate = false, heading = ClusterOptions.HEADING)
  private ClusterOptions cluster = new ClusterOptions();

  @Parameters(index = "0", paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  @Parameters(
      index = "1..*",
      arity = "0..*",
      paramLabel = "TEXT",
      description = "The note; several words are joined by blanks.")
  private List<String> words = List.of();

  @Override
  public void run() {
    Annotating annotating = new Annotating(cluster, spec.commandLine().getOut());
    if (words.isEmpty()) {
      annotating.showNote(job);
    } else {
      annotating.note(job, String.join(" ", words));
    }
  }
}
