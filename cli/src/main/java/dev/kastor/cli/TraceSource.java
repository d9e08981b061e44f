package dev.kastor.cli;

import dev.kastor.traces.TraceException;
import dev.kastor.traces.format.TraceContent;
import dev.kastor.traces.format.TraceFormats;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The trace that a command reads. */
final class TraceSource {
  @Parameters(
      index = "0",
      paramLabel = "TRACE",
      description =
          "A trace, compressed with gzip or not; for Alibaba's also the folder of tables.")
  private Path file = Path.of("");

  @Option(
      names = "--format",
      paramLabel = "NAME",
      description =
          "kastor, pollux (its artifact's workloads, and Sia's), philly, philly-csv, helios, alibaba or swf (default: told from the content).")
  private @Nullable String format;

  TraceContent read() {
    try {
      return TraceFormats.read(file, format == null ? null : TraceFormats.named(format), null);
    } catch (TraceException e) {
      throw new CliException(ExitCode.USAGE, String.valueOf(e.getMessage()));
    }
  }

  Path file() {
    return file;
  }
}
