package dev.kastor.cli.trace;

import dev.kastor.cli.plugin.PluginJars;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.traces.TraceException;
import dev.kastor.traces.format.TraceContent;
import dev.kastor.traces.format.TraceFormat;
import dev.kastor.traces.format.TraceFormats;
import java.nio.file.Path;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The trace that a command reads. */
public final class TraceSource {
  @Parameters(
      index = "0",
      paramLabel = "TRACE",
      description =
          "A trace, compressed with gzip or not; for Alibaba's also the folder of tables.")
  private Path file = Path.of("");

  @Option(
      names = "--format",
      paramLabel = "NAME",
      completionCandidates = Names.class,
      description =
          "Format of the trace: ${COMPLETION-CANDIDATES} (default: told from the content).")
  private @Nullable String format;

  TraceContent read() {
    try {
      return TraceFormats.read(
          file, PluginJars.registry(TraceFormats.BUILT_IN, TraceFormat.class), format, null);
    } catch (TraceException e) {
      throw new CliException(ExitCode.USAGE, String.valueOf(e.getMessage()));
    }
  }

  /** Names of all formats, for help and completion. */
  public static final class Names implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return PluginJars.names(TraceFormats.BUILT_IN, TraceFormat.class).iterator();
    }
  }

  Path file() {
    return file;
  }
}
