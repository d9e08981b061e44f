package dev.kastor.cli.local;

import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.local.Installation;
import dev.kastor.local.LocalException;
import dev.kastor.local.Paces;
import dev.kastor.scheduler.goodput.ThroughputParams;
import dev.kastor.traces.ParametricApplication;
import dev.kastor.traces.TraceException;
import dev.kastor.traces.profile.ApplicationFile;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * File of the paces that passes keep: applications in Kastor's own format, as replays have them.
 */
public final class PaceFile {
  private static final String SHIPPED = "traces/profiles/paced.csv";

  private PaceFile() {}

  /**
   * Reads the paces of a file; of the shipped one where its name is empty.
   *
   * @throws CliException naming file, line and field of what is wrong
   */
  public static Paces read(String name) {
    try {
      return paces(name.isEmpty() ? Installation.current().root().resolve(SHIPPED) : Path.of(name));
    } catch (TraceException | LocalException e) {
      throw new CliException(ExitCode.USAGE, "--paced: " + e.getMessage(), e);
    }
  }

  private static Paces paces(Path file) throws TraceException {
    Map<String, String> paces = new LinkedHashMap<>();
    for (ParametricApplication application : ApplicationFile.read(file).values()) {
      if (application.byGpuType().size() > 1) {
        throw new TraceException(
            "%s has application '%s' on %d GPU types, and slots here are of one. Keep one of its rows."
                .formatted(file, application.name(), application.byGpuType().size()));
      }
      ThroughputParams pass = application.byGpuType().firstEntry().getValue().throughput();
      paces.put(application.name(), pass.alphaCompute() + " " + pass.betaCompute());
    }
    return new Paces(paces);
  }
}
