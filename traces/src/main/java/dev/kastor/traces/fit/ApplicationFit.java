package dev.kastor.traces.fit;

import dev.kastor.protocol.StepProfile;
import dev.kastor.scheduler.estimate.ThroughputFitter;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.PlacementShape;
import dev.kastor.scheduler.goodput.ThroughputParams;
import dev.kastor.traces.Application;
import dev.kastor.traces.ParametricApplication;
import dev.kastor.traces.ParametricApplication.OnGpu;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/**
 * A measured application as seven throughput constants per GPU type, a curve of the gradient noise
 * and its work.
 *
 * @param application the parametric application
 * @param misfits how well the constants meet the measurements, by GPU type
 */
public record ApplicationFit(
    ParametricApplication application, SequencedMap<String, Misfit> misfits) {
  /**
   * Relative errors of step times.
   *
   * @param samples measurements that were fitted
   * @param median median of |fitted - measured| / measured
   * @param p90 its 90th percentile
   */
  public record Misfit(int samples, double median, double p90) {}

  /** Digits kept of each constant: more would claim what the measurements do not hold. */
  private static final int DIGITS = 4;

  /**
   * Fits an application.
   *
   * @param gpuTypes the types to fit, by the name they are given in the result
   * @throws IllegalArgumentException if nothing was measured on one of them
   */
  public static ApplicationFit of(Application measured, SequencedMap<String, String> gpuTypes) {
    SequencedMap<String, OnGpu> byGpuType = new LinkedHashMap<>();
    SequencedMap<String, Misfit> misfits = new LinkedHashMap<>();
    gpuTypes.forEach((name, type) -> {
      List<StepProfile> samples = StepSamples.of(measured, type);
      if (samples.isEmpty()) {
        throw new IllegalArgumentException(
            "application %s was never measured on GPU type '%s'".formatted(measured.name(), type));
      }
      ThroughputParams params = rounded(ThroughputFitter.fit(samples).params());
      byGpuType.put(name, new OnGpu(params, plain(measured.batchLimits(type))));
      misfits.put(name, misfit(params, samples));
    });
    return new ApplicationFit(
        new ParametricApplication(
            measured.name(),
            byGpuType,
            Math.rint(measured.progressAt(measured.epochs())),
            measured.epochs(),
            NoiseSamples.curve(measured),
            measured.restartSeconds(),
            measured.maxReplicas()),
        misfits);
  }

  private static BatchLimits plain(BatchLimits limits) {
    return limits.withTarget(limits.initialGlobalBatch());
  }

  private static Misfit misfit(ThroughputParams params, List<StepProfile> samples) {
    double[] errors =
        samples.stream()
            .mapToDouble(s ->
                Math.abs(
                        params.updateSeconds(
                                new PlacementShape(s.nodes(), s.replicas(), ""),
                                s.atomicBatchSize())
                            - s.stepSeconds())
                    / s.stepSeconds())
            .sorted()
            .toArray();
    return new Misfit(
        errors.length, errors[errors.length / 2], errors[(int) (0.9 * (errors.length - 1))]);
  }

  private static ThroughputParams rounded(ThroughputParams p) {
    return new ThroughputParams(
        rounded(p.alphaCompute()),
        rounded(p.betaCompute()),
        rounded(p.alphaNetwork()),
        rounded(p.betaNetwork()),
        rounded(p.alphaLocal()),
        rounded(p.betaLocal()),
        rounded(p.gamma()));
  }

  /** The value with {@link #DIGITS} significant digits. */
  static double rounded(double value) {
    return new BigDecimal(value).round(new MathContext(DIGITS)).doubleValue();
  }
}
