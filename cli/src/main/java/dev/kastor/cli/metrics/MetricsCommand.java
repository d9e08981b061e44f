package dev.kastor.cli.metrics;

import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.terminal.ExitCode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code kastor metrics}. */
@Command(
    name = "metrics",
    description = {
      "Shows or exports the series of a job: what its script logs, and Kastor's own, whose names"
          + " begin with kastor/.",
      "The operator keeps at most 500 points of each, thinned out evenly; a file keeps all that it"
          + " was given."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor metrics bert",
      "  kastor metrics bert -o csv > bert.csv",
      "  kastor metrics bert -o tensorboard --out runs --watch & tensorboard --logdir runs"
    })
public final class MetricsCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @ArgGroup(validate = false, heading = ClusterOptions.HEADING)
  private ClusterOptions cluster = new ClusterOptions();

  @Parameters(paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  @Option(
      names = {"-o", "--output"},
      paramLabel = "csv|json|tensorboard",
      description = "One point a line as CSV or JSON, or event files; a summary by default.")
  private @Nullable MetricsOutput output;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description =
          "Write to DIR/NAMESPACE/JOB-CREATED.csv or .jsonl, or event files to a folder of that"
              + " name; what is there stays, what is newer is added.")
  private @Nullable Path out;

  @Option(
      names = {"-w", "--watch"},
      description = "Go on with new points until the job ends or Ctrl-C.")
  private boolean watch;

  @Override
  public Integer call() throws IOException {
    MetricsOutput format = output;
    if (format == null && (out != null || watch)) {
      throw new ParameterException(
          spec.commandLine(),
          "--out and --watch need a format of points. Add -o csv, json or tensorboard");
    }
    if (format == MetricsOutput.TENSORBOARD && out == null) {
      throw new ParameterException(
          spec.commandLine(),
          "-o tensorboard writes event files. Name their folder with --out DIR");
    }
    Metrics metrics =
        new Metrics(cluster, spec.commandLine().getOut(), spec.commandLine().getErr());
    try {
      if (format == null) {
        metrics.summary(job);
      } else {
        metrics.export(job, format, out, watch);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return ExitCode.OK;
  }
}
