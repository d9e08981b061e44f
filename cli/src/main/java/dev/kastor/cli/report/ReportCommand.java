package dev.kastor.cli.report;

import dev.kastor.cli.connect.ClusterOptions;
import java.time.Instant;
import java.time.LocalDate;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code kastor report}. */
@Command(
    name = "report",
    description = {
      "Reports the GPU-hours that jobs held and what became of them: useful training, inefficient"
          + " training, starts, changes of size, failures with work done again, and what is not"
          + " known. The columns add up to what was held.",
      "Where nodes tell a price (annotation kastor.dev/price-per-hour), the cost of what was held is"
          + " reported too. Jobs that are gone count as well. Days are those of UTC. For who may list"
          + " the jobs of all namespaces."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor report",
      "  kastor report --by user --since 7d",
      "  kastor report --by family --since 2026-01-01 -o csv > usage.csv"
    })
public final class ReportCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  @ArgGroup(validate = false, heading = ClusterOptions.HEADING)
  private ClusterOptions cluster = new ClusterOptions();

  @Option(
      names = "--by",
      paramLabel = "queue|namespace|user|family",
      description = "What the rows are; the user is the job's label user (default: queue).")
  private ReportBy by = ReportBy.QUEUE;

  @Option(
      names = "--since",
      paramLabel = "TIME|DATE",
      description =
          "Beginning: so long ago, such as 24h, 7d or 4w, or a day such as 2026-01-31; the whole"
              + " day counts (default: 30d).")
  private String since = "30d";

  @Option(
      names = {"-o", "--output"},
      paramLabel = "table|csv|json",
      description =
          "A table of GPU-hours, CSV of GPU-seconds, or JSON of GPU-milliseconds (default: table).")
  private ReportOutput output = ReportOutput.TABLE;

  @Override
  public void run() {
    LocalDate first;
    try {
      first = new ReportSince(since).day(Instant.now());
    } catch (TypeConversionException e) {
      throw new ParameterException(spec.commandLine(), "--since: " + e.getMessage(), e);
    }
    new Reports(cluster, spec.commandLine().getOut()).print(by, first, output);
  }
}
