package dev.kastor.traces.profile;

import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.ThroughputParams;
import dev.kastor.traces.CsvRow;
import dev.kastor.traces.NoiseCurve;
import dev.kastor.traces.ParametricApplication;
import dev.kastor.traces.ParametricApplication.OnGpu;
import dev.kastor.traces.TraceException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Kastor's own application format: a CSV file with a row for each application and GPU type. What
 * belongs to the application as a whole stands in its first row; later rows repeat it or leave it
 * empty.
 */
public final class ApplicationFile {
  static final List<String> COLUMNS =
      List.of(
          "application",
          "gpuType",
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
          "maxReplicas",
          "totalSteps",
          "epochs",
          "restartSeconds",
          "noiseScale");

  private ApplicationFile() {}

  /** Every application of the file, by name, in file order. */
  public static SequencedMap<String, ParametricApplication> read(Path file) throws TraceException {
    SequencedMap<String, ParametricApplication> applications = new LinkedHashMap<>();
    CsvRow.forEach(
        file,
        COLUMNS,
        row -> {
          String name = row.text("application");
          applications.put(name, parse(row, name, applications.get(name)));
        });
    if (applications.isEmpty()) {
      throw new TraceException("%s has no applications".formatted(file));
    }
    return applications;
  }

  private static ParametricApplication parse(
      CsvRow row, String name, @Nullable ParametricApplication earlier) throws TraceException {
    SequencedMap<String, OnGpu> byGpuType =
        new LinkedHashMap<>(earlier == null ? new LinkedHashMap<>() : earlier.byGpuType());
    String gpuType = row.textOr("gpuType", "");
    if (byGpuType.put(gpuType, new OnGpu(throughput(row), limits(row))) != null) {
      throw row.problem(
          "gpuType", "application '%s' has GPU type '%s' twice".formatted(name, gpuType));
    }
    ParametricApplication application = whole(row, name, byGpuType, earlier);
    if (earlier != null && !sameWork(earlier, application)) {
      throw row.problem(
          "",
          "it changes the work, noise, restart cost or maxReplicas of application '%s'. Leave those cells empty after its first row."
              .formatted(name));
    }
    return application;
  }

  private static ParametricApplication whole(
      CsvRow row,
      String name,
      SequencedMap<String, OnGpu> byGpuType,
      @Nullable ParametricApplication earlier)
      throws TraceException {
    double totalSteps =
        earlier == null || !row.isBlank("totalSteps")
            ? row.atLeast("totalSteps", 1)
            : earlier.totalSteps();
    int epochs =
        earlier == null || !row.isBlank("epochs") ? row.positive("epochs") : earlier.epochs();
    NoiseCurve noise = earlier == null || !row.isBlank("noiseScale") ? noise(row) : earlier.noise();
    double restartSeconds =
        earlier == null || !row.isBlank("restartSeconds")
            ? row.atLeast("restartSeconds", 0)
            : earlier.restartSeconds();
    int maxReplicas =
        earlier == null || !row.isBlank("maxReplicas")
            ? row.positive("maxReplicas")
            : earlier.maxReplicas();
    try {
      return new ParametricApplication(
          name, byGpuType, totalSteps, epochs, noise, restartSeconds, maxReplicas);
    } catch (IllegalArgumentException e) {
      throw row.problem("", String.valueOf(e.getMessage()));
    }
  }

  private static boolean sameWork(ParametricApplication a, ParametricApplication b) {
    return a.totalSteps() == b.totalSteps()
        && a.epochs() == b.epochs()
        && a.noise().equals(b.noise())
        && a.restartSeconds() == b.restartSeconds()
        && a.maxReplicas() == b.maxReplicas();
  }

  private static ThroughputParams throughput(CsvRow row) throws TraceException {
    return new ThroughputParams(
        row.atLeast("alphaCompute", 0),
        row.atLeast("betaCompute", Double.MIN_VALUE),
        row.atLeast("alphaNetwork", 0),
        row.atLeast("betaNetwork", 0),
        row.atLeast("alphaLocal", 0),
        row.atLeast("betaLocal", 0),
        row.atLeast("gamma", 1));
  }

  private static BatchLimits limits(CsvRow row) throws TraceException {
    int initial = row.positive("initialBatch");
    int most = row.positive("maxBatch");
    int minAtomic = row.positive("minAtomicBatch");
    int maxAtomic = row.positive("maxAtomicBatch");
    try {
      return new BatchLimits(initial, most, minAtomic, maxAtomic, true);
    } catch (IllegalArgumentException e) {
      throw row.problem("maxBatch", String.valueOf(e.getMessage()));
    }
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

  /**
   * The file's text.
   *
   * @param comment lines to put above the header, without {@code #}
   */
  public static String text(List<String> comment, Collection<ParametricApplication> applications) {
    StringBuilder text = new StringBuilder();
    comment.forEach(line -> text.append("# ").append(line).append('\n'));
    text.append(String.join(",", COLUMNS)).append('\n');
    for (ParametricApplication application : applications) {
      application
          .byGpuType()
          .forEach((type, gpu) -> {
            boolean first = type.equals(application.gpuTypes().getFirst());
            text.append(row(application, type, gpu, first)).append('\n');
          });
    }
    return text.toString();
  }

  private static String row(
      ParametricApplication application, String type, OnGpu gpu, boolean first) {
    ThroughputParams p = gpu.throughput();
    BatchLimits limits = gpu.limits();
    List<String> cells = new ArrayList<>(List.of(application.name(), type));
    for (double constant :
        new double[] {
          p.alphaCompute(),
          p.betaCompute(),
          p.alphaNetwork(),
          p.betaNetwork(),
          p.alphaLocal(),
          p.betaLocal(),
          p.gamma()
        }) {
      cells.add(number(constant));
    }
    for (int bound :
        new int[] {
          limits.initialGlobalBatch(),
          limits.maxGlobalBatch(),
          limits.minAtomicBatch(),
          limits.maxAtomicBatch()
        }) {
      cells.add(Integer.toString(bound));
    }
    if (first) {
      cells.add(Integer.toString(application.maxReplicas()));
      cells.add(number(application.totalSteps()));
      cells.add(Integer.toString(application.epochs()));
      cells.add(number(application.restartSeconds()));
      cells.add(
          application.noise().points().stream()
              .map(point -> number(point.share()) + ":" + number(point.noiseScale()))
              .collect(Collectors.joining(";")));
    } else {
      cells.addAll(Collections.nCopies(5, ""));
    }
    return String.join(",", cells);
  }

  private static String number(double value) {
    return value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
  }
}
