package dev.kastor.cli.trace;

import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.traces.AtomicFile;
import dev.kastor.traces.CategoryMix;
import dev.kastor.traces.Workload;
import dev.kastor.traces.format.TraceContent;
import dev.kastor.traces.format.WorkloadFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code kastor trace convert}. */
@Command(
    name = "convert",
    description = {
      "Writes a trace in Kastor's own workload format.",
      "Jobs that never ran, use no GPU or miss a time are left out and counted.",
      "The history of another scheduler is a trace too: of Slurm what sacct prints with the options"
          + " of the example (states, times and GPUs of ReqTRES and AllocTRES), of Kubernetes lists"
          + " of Kueue's Workloads or of Jobs. Nobody knows how such jobs scale: they are rigid"
          + " unless --assume or --categories says otherwise."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor trace convert cluster_job_log philly.csv --format philly",
      "  kastor trace convert alibaba/ alibaba.csv",
      "  sacct -a -X -P -S 2026-01-01 -E now \\",
      "    -o JobID,Submit,Start,End,State,Account,Partition,ReqTRES,AllocTRES > slurm.txt",
      "  kastor trace convert slurm.txt history.csv",
      "  kubectl get workloads.kueue.x-k8s.io -A -o json > kueue.json",
      "  kastor trace convert kueue.json history.csv",
      "  kubectl get jobs -A -o json > jobs.json",
      "  kastor trace convert jobs.json history.csv",
      "  kastor trace convert workload-1.csv mixed.csv --categories adaptive=0.6,rigid=0.4"
    })
final class TraceConvertCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private TraceSource source = new TraceSource();

  @Parameters(index = "1", paramLabel = "OUT", description = "The CSV file to write.")
  private Path out = Path.of("");

  @Option(
      names = "--categories",
      paramLabel = "MIX",
      converter = Mix.class,
      description = {
        "Draw what a scheduler may change about each job,",
        "e.g. adaptive=0.5,scale-gpus=0.3,rigid=0.2."
      })
  private @Nullable CategoryMix categories;

  @Option(
      names = "--assume",
      paramLabel = "APPLICATION",
      description =
          "Take jobs of which only size and duration are known to scale like this application of the"
              + " profiles that they are then replayed with, such as one of traces/profiles/kastor.csv:"
              + " each has as much of its work as took so long (default: they are rigid).")
  private @Nullable String assumed;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      description = "Seed of the categories (default: ${DEFAULT-VALUE}).")
  private long seed = 1;

  @Override
  public Integer call() throws IOException {
    TraceContent content = source.read();
    if (assumed != null && categories != null) {
      throw new CliException(
          ExitCode.USAGE, "--assume says of all jobs what --categories draws. Give one of them.");
    }
    Workload workload =
        categories == null
            ? scaling(content.workload())
            : categories.draw(content.workload(), seed);
    String converted =
        "Converted from %s (%s)."
            .formatted(source.file().getFileName(), content.format().description());
    AtomicFile.write(out, WorkloadFile.text(comment(converted, workload), workload));
    spec.commandLine()
        .getOut()
        .printf(
            "%d jobs to %s%s%n",
            content.workload().jobs().size(),
            out,
            content.skipped().isEmpty() ? "" : "; skipped " + content.skipped());
    if (!workload.assumptions().isEmpty()) {
      spec.commandLine().getOut().println(workload.assumptions());
    }
    spec.commandLine().getOut().flush();
    return ExitCode.OK;
  }

  private Workload scaling(Workload read) {
    String like = assumed;
    return like == null
        ? read
        : new Workload(
            read.name(),
            read.jobs().stream()
                .map(job -> job.durationSeconds() > 0 ? job.adaptive(like) : job)
                .toList());
  }

  private static List<String> comment(String converted, Workload workload) {
    String assumptions = workload.assumptions();
    return assumptions.isEmpty()
        ? List.of(converted)
        : List.of(converted, "Assumed: " + assumptions);
  }

  /** Categories and their weights. */
  static final class Mix implements ITypeConverter<CategoryMix> {
    @Override
    public CategoryMix convert(String text) {
      try {
        return CategoryMix.parse(text);
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(String.valueOf(e.getMessage()));
      }
    }
  }
}
