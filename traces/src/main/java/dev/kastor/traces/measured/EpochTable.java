package dev.kastor.traces.measured;

import dev.kastor.protocol.GradientStats;
import dev.kastor.traces.CsvRow;
import dev.kastor.traces.TraceException;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Training runs at several global batches, an epoch a row: the folder's {@code validation-B.csv}
 * files.
 */
final class EpochTable {
  private static final List<String> COLUMNS =
      List.of("progress", "iteration", "metric", "grad_sqr", "grad_var");

  private final int[] globalBatches;
  private final double[] progress;

  // By epoch, then by batch.
  private final double[][] iterations;
  private final double[][] squaredNorms;
  private final double[][] variances;

  private EpochTable(NavigableMap<Integer, List<CsvRow>> runs, Path folder) throws TraceException {
    globalBatches = runs.keySet().stream().mapToInt(Integer::intValue).toArray();
    int epochs = runs.firstEntry().getValue().size();
    progress = new double[epochs + 1];
    iterations = new double[epochs][globalBatches.length];
    squaredNorms = new double[epochs][globalBatches.length];
    variances = new double[epochs][globalBatches.length];
    int run = 0;
    for (var entry : runs.entrySet()) {
      if (entry.getValue().size() != epochs) {
        throw new TraceException(
            "%s: validation-%d.csv has %d epochs but the run of the smallest batch has %d"
                .formatted(folder, entry.getKey(), entry.getValue().size(), epochs));
      }
      for (int e = 0; e < epochs; e++) {
        CsvRow row = entry.getValue().get(e);
        double done = row.atLeast("progress", 0);
        progress[e + 1] = run == 0 ? done : Math.min(progress[e + 1], done);
        iterations[e][run] = row.atLeast("iteration", 0);
        squaredNorms[e][run] = row.atLeast("grad_sqr", 0);
        variances[e][run] = row.atLeast("grad_var", 0);
      }
      run++;
    }
    for (int e = 0; e < epochs; e++) {
      if (!(progress[e + 1] > progress[e])) {
        throw new TraceException(
            "%s: progress does not rise in epoch %d of the validation files"
                .formatted(folder, e + 1));
      }
    }
  }

  static EpochTable read(Path folder) throws TraceException {
    TreeMap<Integer, List<CsvRow>> runs = new TreeMap<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "validation-*.csv")) {
      for (Path file : files) {
        String name = String.valueOf(file.getFileName());
        String batch = name.substring("validation-".length(), name.length() - ".csv".length());
        try {
          runs.put(Integer.parseInt(batch), CsvRow.readAtLeast(file, COLUMNS));
        } catch (NumberFormatException e) {
          throw new TraceException(
              "%s: the name must be validation-B.csv with B the global batch".formatted(file), e);
        }
      }
    } catch (IOException e) {
      throw new TraceException("%s cannot be listed: %s".formatted(folder, e.getMessage()), e);
    }
    if (runs.isEmpty() || runs.firstEntry().getValue().isEmpty()) {
      throw new TraceException("%s has no validation-B.csv with an epoch in it".formatted(folder));
    }
    return new EpochTable(runs, folder);
  }

  int smallestBatch() {
    return globalBatches[0];
  }

  int largestBatch() {
    return globalBatches[globalBatches.length - 1];
  }

  int epochs() {
    return iterations.length;
  }

  double progressAt(int epoch) {
    return progress[epoch];
  }

  GradientStats gradient(int globalBatch, int epoch) {
    double at = position(globalBatch);
    return new GradientStats(
        Interpolation.at(squaredNorms[epoch], at),
        Interpolation.at(variances[epoch], at),
        smallestBatch());
  }

  double iterations(int globalBatch, int epoch) {
    return Interpolation.at(iterations[epoch], position(globalBatch));
  }

  private double position(int globalBatch) {
    double at = Interpolation.position(globalBatches, globalBatch);
    if (Double.isNaN(at)) {
      throw new IllegalArgumentException(
          "global batch %d was not measured; it must be between %d and %d"
              .formatted(globalBatch, smallestBatch(), largestBatch()));
    }
    return at;
  }
}
