package dev.kastor.cli.trace;

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
      "Jobs that never ran, use no GPU or miss a time are left out and counted."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor trace convert cluster_job_log philly.csv --format philly",
      "  kastor trace convert alibaba/ alibaba.csv",
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
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      description = "Seed of the categories (default: ${DEFAULT-VALUE}).")
  private long seed = 1;

  @Override
  public Integer call() throws IOException {
    TraceContent content = source.read();
    Workload workload =
        categories == null ? content.workload() : categories.draw(content.workload(), seed);
    String comment =
        "Converted from %s (%s)."
            .formatted(source.file().getFileName(), content.format().description());
    AtomicFile.write(out, WorkloadFile.text(List.of(comment), workload));
    spec.commandLine()
        .getOut()
        .printf(
            "%d jobs to %s%s%n",
            content.workload().jobs().size(),
            out,
            content.skipped().isEmpty() ? "" : "; skipped " + content.skipped());
    spec.commandLine().getOut().flush();
    return ExitCode.OK;
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
