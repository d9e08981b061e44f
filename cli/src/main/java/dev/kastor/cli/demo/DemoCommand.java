package dev.kastor.cli.demo;

import dev.kastor.cli.local.PaceFile;
import dev.kastor.cli.local.Sizing;
import dev.kastor.cli.plugin.KnownPolicies;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code kastor demo}. */
@Command(
    name = "demo",
    description = {
      "Trains eight small jobs in two waves on this machine, lets them share and resize, and compares.",
      "Eight slots keep the pace of accelerators; with --cores three jobs share this machine's cores.",
      "The comparison trains the same jobs again, one replica each with a fixed batch.",
      "All that it starts ends with it, and its files go, unless --keep is given."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor demo",
      "  kastor demo --cores",
      "  kastor demo --slots 4 --no-compare",
      "  kastor demo --work 0.2",
      "  kastor demo --json demo.json"
    })
public final class DemoCommand implements Callable<Integer> {
  private static final int PACED_SLOTS = 8;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--slots",
      paramLabel = "N",
      description =
          "Replicas that this machine holds (default: 8, with --cores one for each core or GPU).")
  private @Nullable Integer slots;

  @Option(
      names = "--cores",
      description =
          "Train three jobs as fast as this machine's cores allow, instead of eight on paced slots.")
  private boolean cores;

  @Option(
      names = "--policy",
      paramLabel = "NAME",
      defaultValue = "kastor",
      completionCandidates = KnownPolicies.Names.class,
      description =
          "Scheduling policy: ${COMPLETION-CANDIDATES}. Options follow as NAME:OPTION=VALUE, such"
              + " as kastor:hold=1000 (default: ${DEFAULT-VALUE}).")
  private String policy = "kastor";

  @Option(
      names = "--port",
      paramLabel = "PORT",
      defaultValue = "8080",
      description = "Port of the web page; another when it is taken (default: ${DEFAULT-VALUE}).")
  private int port = 8080;

  @Option(names = "--json", paramLabel = "FILE", description = "Write the results as JSON, too.")
  private @Nullable Path json;

  @Option(names = "--keep", description = "Keep logs and checkpoints.")
  private boolean keep;

  @Option(
      names = "--no-compare",
      negatable = false,
      description = "Skip the run with a static allocation.")
  private boolean noCompare;

  @Option(
      names = "--work",
      paramLabel = "SHARE",
      defaultValue = "1",
      description =
          "Share of each job's steps to train, such as 0.2 for a short demo (default:"
              + " ${DEFAULT-VALUE}).")
  private double work = 1;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      defaultValue = "600",
      description = "Give up a run after this time (default: ${DEFAULT-VALUE}).")
  private int timeoutSeconds = 600;

  @Override
  public Integer call() {
    String chosen = Sizing.policy(policy);
    return new Demo(
            spec.commandLine().getOut(),
            new Demo.Plan(
                Sizing.slots(slots == null && !cores ? Integer.valueOf(PACED_SLOTS) : slots),
                cores ? Optional.empty() : Optional.of(PaceFile.read("")),
                chosen,
                Sizing.port(port),
                share(work),
                json,
                keep,
                !noCompare,
                timeoutSeconds))
        .run();
  }

  private static double share(double work) {
    if (!(work > 0 && work <= 1)) {
      throw new CliException(
          ExitCode.USAGE, "--work must be more than 0 and at most 1 but is " + work);
    }
    return work;
  }
}
