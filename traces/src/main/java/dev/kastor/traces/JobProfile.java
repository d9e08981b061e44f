package dev.kastor.traces;

import dev.kastor.scheduler.BatchLimits;
import dev.kastor.scheduler.goodput.ThroughputParams;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
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
  private static final List<String> COLUMNS =
      List.of(
          "name",
          "alphaCompute",
          "betaCompute",
          "alphaNetwork",
          "betaNetwork",
          "alphaLocal",
          "betaLocal",
          "gamma",
          "initialBatch",
          "maxBatch",
          "minAtomicBatch",
          "maxAtomicBatch",
          "totalSteps",
          "noiseScale");

  /**
   * Reads profiles by name from a CSV file; {@code noiseScale} is {@code share:examples} pairs
   * joined by semicolons.
   */
  public static SequencedMap<String, JobProfile> read(Path file) throws TraceException {
    SequencedMap<String, JobProfile> profiles = new LinkedHashMap<>();
    for (CsvRow row : CsvRow.read(file, COLUMNS)) {
      JobProfile profile = parse(row);
      if (profiles.put(profile.name(), profile) != null) {
        throw row.problem("name", "profile '%s' appears twice".formatted(profile.name()));
      }
    }
    return profiles;
  }

  private static JobProfile parse(CsvRow row) throws TraceException {
    ThroughputParams params =
        new ThroughputParams(
            row.atLeast("alphaCompute", 0),
            row.atLeast("betaCompute", Double.MIN_VALUE),
            row.atLeast("alphaNetwork", 0),
            row.atLeast("betaNetwork", 0),
            row.atLeast("alphaLocal", 0),
            row.atLeast("betaLocal", 0),
            row.atLeast("gamma", 1));
    BatchLimits limits;
    try {
      limits =
          new BatchLimits(
              row.positive("initialBatch"),
              row.positive("maxBatch"),
              row.positive("minAtomicBatch"),
              row.positive("maxAtomicBatch"),
              true);
    } catch (IllegalArgumentException e) {
      throw row.problem("maxBatch", String.valueOf(e.getMessage()));
    }
    return new JobProfile(
        row.text("name"), params, limits, row.atLeast("totalSteps", 1), noise(row));
  }

  private static NoiseCurve noise(CsvRow row) throws TraceException {
    List<NoiseCurve.Point> points = new ArrayList<>();
    for (String pair : row.text("noiseScale").split(";", -1)) {
      List<String> parts = List.of(pair.split(":", -1));
      if (parts.size() != 2) {
        throw row.problem("noiseScale", "'%s' is not share:examples".formatted(pair));
      }
      points.add(
          new NoiseCurve.Point(
              row.number("noiseScale", parts.get(0)), row.number("noiseScale", parts.get(1))));
    }
    try {
      return new NoiseCurve(points);
    } catch (IllegalArgumentException e) {
      throw row.problem("noiseScale", String.valueOf(e.getMessage()));
    }
  }
}
