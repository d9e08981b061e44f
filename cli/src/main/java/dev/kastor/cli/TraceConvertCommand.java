package dev.kastor.cli;

import dev.kastor.traces.AtomicFile;
import dev.kastor.traces.format.TraceContent;
import dev.kastor.traces.format.WorkloadFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

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
      "  kastor trace convert alibaba/ alibaba.csv"
    })
final class TraceConvertCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private TraceSource source = new TraceSource();

  @Parameters(index = "1", paramLabel = "OUT", description = "The CSV file to write.")
  private Path out = Path.of("");

  @Override
  public Integer call() throws IOException {
    TraceContent content = source.read();
    String comment =
        "Converted from %s (%s)."
            .formatted(source.file().getFileName(), content.format().description());
    AtomicFile.write(out, WorkloadFile.text(List.of(comment), content.workload()));
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
}
