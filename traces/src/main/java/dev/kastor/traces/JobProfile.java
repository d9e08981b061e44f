package dev.kastor.traces;

import dev.kastor.scheduler.BatchLimits;
import dev.kastor.scheduler.goodput.ThroughputParams;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/**
 * How a kind of job behaves: its true step times, its noise and its work.
 *
 * @param name unique in its file
 * @param params true step-time constants
 * @param limits batches it may use
 * @param totalSteps its work in steps of the initial batch
 * @param noise gradient noise scale over progress
 */
public record JobProfile(
    String name, ThroughputParams params, BatchLimits limits, double totalSteps, NoiseCurve noise) {
  /** Reads the applications of Kastor's own format, as they behave on their first GPU type. */
  public static SequencedMap<String, JobProfile> read(Path file) throws TraceException {
    SequencedMap<String, JobProfile> profiles = new LinkedHashMap<>();
    ApplicationFile.read(file)
        .forEach((name, application) -> {
          ParametricApplication.OnGpu gpu = application.on("");
          profiles.put(
              name,
              new JobProfile(
                  name,
                  gpu.throughput(),
                  gpu.limits(),
                  application.totalSteps(),
                  application.noise()));
        });
    return profiles;
  }
}
