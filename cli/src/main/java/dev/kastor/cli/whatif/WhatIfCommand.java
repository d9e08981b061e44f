package dev.kastor.cli.whatif;

import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.plugin.KnownPolicies;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.terminal.OutputOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code kastor whatif}. */
@Command(
    name = "whatif",
    description = {
      "Says what would come of one job more, other nodes, another policy, quota or priority: when the"
          + " job would start and end, and whose end moves by how much.",
      "It replays the future of the cluster as it is now, once without and once with the changes,"
          + " with the policy that decides there. Nothing is changed. Without a change it says when"
          + " each job starts and ends."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor whatif --add job.yaml",
      "  kastor whatif --add job.yaml --nodes +2xa100 -o json",
      "  kastor whatif --policy kastor:hold=1000",
      "  kastor whatif --nodes -1xt4 --queue research=8 --priority bert=10"
    })
public final class WhatIfCommand implements Runnable {
  private static final double MOST_MINUTES = 525_600;

  @Spec private CommandSpec spec = CommandSpec.create();

  @ArgGroup(validate = false, heading = ClusterOptions.HEADING)
  private ClusterOptions cluster = new ClusterOptions();

  @Mixin private OutputOptions output = new OutputOptions();

  @Option(
      names = "--add",
      paramLabel = "FILE",
      description = "TrainingJobs to submit now, as a file or - (repeatable).")
  private List<Path> files = new ArrayList<>();

  @Option(
      names = "--policy",
      paramLabel = "NAME",
      completionCandidates = KnownPolicies.Names.class,
      description =
          "Another scheduling policy: ${COMPLETION-CANDIDATES}. Options follow as"
              + " NAME:OPTION=VALUE, such as kastor:hold=1000.")
  private @Nullable String policy;

  @Option(
      names = "--nodes",
      paramLabel = "CHANGE",
      description =
          "More or fewer nodes of a GPU type, such as +2xa100 or -1xt4; +1 where there is one type"
              + " (repeatable). New ones are like the largest of the type; those leave first that"
              + " hold the least.")
  private List<String> nodes = new ArrayList<>();

  @Option(
      names = "--queue",
      paramLabel = "NAME=GPUS",
      description = "Another quota of a queue (repeatable).")
  private List<String> quotas = new ArrayList<>();

  @Option(
      names = "--priority",
      paramLabel = "JOB=NUMBER",
      description = "Another priority of a job, which may be named NAMESPACE/NAME (repeatable).")
  private List<String> priorities = new ArrayList<>();

  @Option(
      names = "--unknown",
      paramLabel = "MINUTES",
      defaultValue = "60",
      description =
          "How long a job trains with its fewest replicas if neither its reports nor its family nor"
              + " what it declares tell (default: ${DEFAULT-VALUE}).")
  private double unknownMinutes;

  @Override
  public void run() {
    if (!(unknownMinutes > 0 && unknownMinutes <= MOST_MINUTES)) {
      throw new CliException(
          ExitCode.USAGE, "--unknown must be above 0 and at most a year of minutes");
    }
    Asked asked =
        new Asked(
            files,
            policy,
            nodes,
            quotas,
            priorities,
            Duration.ofMillis(Math.round(unknownMinutes * 60_000)));
    new Asking(cluster, spec.commandLine().getOut()).run(asked, output.output());
  }
}
