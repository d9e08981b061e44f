package dev.kastor.cli.job;

import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.terminal.StandardOutput;
import dev.kastor.cli.terminal.TerminalOutput;
import java.io.PrintWriter;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code kastor logs}. */
@Command(
    name = "logs",
    description = {
      "Prints what a replica of a job said; its oldest one unless told otherwise.",
      "On a terminal its control characters are replaced; files and programs get them all."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor logs bert",
      "  kastor logs bert -f --rank 1",
      "  kastor logs bert --pod bert-3 --tail 50"
    })
public final class LogsCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  @ArgGroup(validate = false, heading = ClusterOptions.HEADING)
  private ClusterOptions cluster = new ClusterOptions();

  @Parameters(paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  @Option(
      names = "--rank",
      paramLabel = "N",
      description = "The N-th running replica in order of age, from 0.")
  private @Nullable Integer rank;

  @Option(names = "--pod", paramLabel = "POD", description = "A replica by its pod's name.")
  private @Nullable String pod;

  @Option(
      names = "--server",
      paramLabel = "N",
      description = "The parameter server N of a job that has some, from 0, instead of a replica.")
  private @Nullable Integer server;

  @Option(
      names = {"-f", "--follow"},
      description = "Go on until the replica ends.")
  private boolean follow;

  @Option(
      names = "--tail",
      paramLabel = "N",
      defaultValue = "-1",
      description = "Only the last N lines.")
  private int tail = -1;

  @Option(
      names = "--raw",
      description =
          "Pass control characters to a terminal as well: a program could then rename its window,"
              + " hide lines or move the cursor.")
  private boolean raw;

  @Override
  public void run() {
    PrintWriter out = spec.commandLine().getOut();
    boolean asItIs = raw || !StandardOutput.mayBeTerminal();
    new Logs(cluster, asItIs && out instanceof TerminalOutput output ? output.raw() : out)
        .print(job, pod, rank, server, follow, tail);
  }
}
