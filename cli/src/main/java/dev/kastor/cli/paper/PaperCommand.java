package dev.kastor.cli.paper;

import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.terminal.Output;
import dev.kastor.paper.Paper;
import dev.kastor.paper.PaperException;
import dev.kastor.paper.PaperReport;
import dev.kastor.paper.Trial;
import dev.kastor.paper.registry.Papers;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Iterator;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code kastor paper}. */
@Command(
    name = "paper",
    description = {
      "Measures what the paper of a research system claims, on this machine.",
      "For each claim: where it stands and what was read of it, our figure with its interval,",
      "the limits that were fixed before the run, and the verdict: reproduced, partly or refuted.",
      "At most ten minutes on two cores. Papers that are planned cannot be run yet."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor paper --list",
      "  kastor paper eager",
      "  kastor paper pollux --traces ../shared/traces --json"
    })
public final class PaperCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(
      paramLabel = "NAME",
      arity = "0..1",
      completionCandidates = Names.class,
      description = "The paper (see --list).")
  private @Nullable String name;

  @Option(names = "--list", description = "List all papers and whether they can be run.")
  private boolean list;

  @Option(names = "--json", description = "Print JSON.")
  private boolean json;

  @Option(
      names = "--traces",
      paramLabel = "DIR",
      defaultValue = "${env:KASTOR_TRACES}",
      description =
          "Folder of the published workloads, for pollux and sia (default: KASTOR_TRACES).")
  private @Nullable Path traces;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      description = "Seed of random choices (default: ${DEFAULT-VALUE}).")
  private long seed = 1;

  @Option(
      names = "--reduced",
      description = "Measure a part only, to see that it runs; the verdict means nothing then.")
  private boolean reduced;

  /** Names for completion. */
  static final class Names implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return Papers.ALL.names().iterator();
    }
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    PrintWriter out = spec.commandLine().getOut();
    if (list == (name != null)) {
      throw new CliException(ExitCode.USAGE, "name one paper, or give --list to see all");
    }
    if (name == null) {
      if (json) {
        Output.JSON.print(PaperJson.list(Papers.ALL.all()), out);
      } else {
        PaperTable.list(Papers.ALL.all(), dev.kastor.cli.terminal.Paper.width())
            .forEach(out::println);
        out.flush();
      }
      return ExitCode.OK;
    }
    Paper paper = chosen(name);
    if (paper.reproduction().isEmpty()) {
      if (json) {
        Output.JSON.print(PaperJson.planned(paper), out);
      } else {
        PaperTable.claims(paper).forEach(out::println);
        out.flush();
      }
      throw new CliException(ExitCode.FAILED, PaperReport.planned(paper));
    }
    PaperReport report = measured(paper);
    if (json) {
      Output.JSON.print(PaperJson.of(report), out);
    } else {
      PaperTable.of(report, dev.kastor.cli.terminal.Paper.width()).forEach(out::println);
      out.flush();
    }
    return ExitCode.OK;
  }

  private PaperReport measured(Paper paper) throws IOException, InterruptedException {
    int threads = Math.min(2, Runtime.getRuntime().availableProcessors());
    Trial trial = new Trial(Optional.ofNullable(traces), seed, reduced, threads, this::tell);
    tell("%s: %s".formatted(paper.name(), paper.description()));
    try {
      return PaperReport.of(paper, trial, InstantSource.system());
    } catch (PaperException e) {
      throw new CliException(ExitCode.FAILED, "%s: %s".formatted(paper.name(), e.getMessage()), e);
    }
  }

  private static Paper chosen(String name) {
    try {
      return Papers.ALL.get(name);
    } catch (IllegalArgumentException e) {
      throw new CliException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
    }
  }

  /** Called by several threads. */
  private synchronized void tell(String line) {
    PrintWriter err = spec.commandLine().getErr();
    err.println(line);
    err.flush();
  }
}
