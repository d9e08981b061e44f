package dev.kastor.simulator.compare;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.apache.commons.math3.stat.descriptive.rank.Percentile;

/**
 * Completion times of the same jobs under A and under B; differences are B - A, ratios B / A, so
 * that below 0 and below 1 B is better.
 *
 * @param policyA policy of A
 * @param policyB policy of B
 * @param pairs one for each pair of runs
 * @param jobs how many jobs there are; one that was replayed with several seeds counts once, with
 *     the mean of its times
 * @param a completion times under A in seconds
 * @param b completion times under B in seconds
 * @param difference mean of the differences in seconds over jobs, by a paired t
 * @param ratio ratio of the means over jobs, by a bootstrap. Jobs of one replay compete with each
 *     other, so their intervals are too narrow as statements about other workloads
 * @param runDifference mean over pairs of runs of the difference of their means in seconds, by a
 *     paired t: the statement about other workloads and seeds
 * @param wins jobs that finish sooner under B
 * @param losses jobs that finish later under B
 */
public record Comparison(
    String policyA,
    String policyB,
    List<RunPair> pairs,
    int jobs,
    Times a,
    Times b,
    Interval difference,
    Interval ratio,
    Interval runDifference,
    int wins,
    int losses) {
  /** Differences below this are rounding. */
  private static final double TIE_SECONDS = 1e-6;

  /**
   * A summary of completion times in seconds.
   *
   * @param mean of all jobs
   * @param median of all jobs
   * @param p90 that 90 % do not exceed, linearly interpolated
   */
  public record Times(double mean, double median, double p90) {
    static Times of(double[] seconds) {
      Percentile percentile = new Percentile().withEstimationType(Percentile.EstimationType.R_7);
      return new Times(
          Arrays.stream(seconds).average().orElse(Double.NaN),
          percentile.evaluate(seconds, 50),
          percentile.evaluate(seconds, 90));
    }
  }

  /**
   * A run of A and its run of B.
   *
   * @param workload path of the workload
   * @param seed of both
   * @param mode of both
   * @param cluster of A's run; empty where its file does not say
   * @param load how many times faster jobs arrived in A's run
   * @param jobs how many
   * @param meanA mean completion time under A in seconds
   * @param meanB mean completion time under B in seconds
   */
  public record RunPair(
      String workload,
      long seed,
      String mode,
      String cluster,
      double load,
      int jobs,
      double meanA,
      double meanB) {}

  public Comparison {
    pairs = List.copyOf(pairs);
  }

  /**
   * Compares policy by policy: where both files have the same several policies, each with itself;
   * otherwise every policy of A with every one of B.
   *
   * @throws CompareException if a run or a job has no partner
   */
  public static List<Comparison> of(RunFile a, RunFile b) throws CompareException {
    List<Comparison> comparisons = new ArrayList<>();
    boolean same = a.policies().size() > 1 && a.policies().equals(b.policies());
    for (String policyA : a.policies()) {
      for (String policyB : same ? List.of(policyA) : b.policies()) {
        comparisons.add(one(a.only(policyA), policyA, b.only(policyB), policyB));
      }
    }
    return comparisons;
  }

  private static Comparison one(RunFile a, String policyA, RunFile b, String policyB)
      throws CompareException {
    SequencedMap<RunFile.Entry, RunFile.Entry> pairs = Pairing.of(a, b);
    List<RunPair> runPairs = new ArrayList<>();
    // The same job under several seeds is one job: its times are averaged.
    SequencedMap<List<Object>, Sums> sums = new LinkedHashMap<>();
    for (Map.Entry<RunFile.Entry, RunFile.Entry> pair : pairs.entrySet()) {
      RunFile.Entry runA = pair.getKey();
      Map<String, Double> ofB = pair.getValue().jct();
      runA.jct()
          .forEach((job, seconds) ->
              sums.computeIfAbsent(
                      List.of(runA.workload(), runA.mode(), runA.cluster(), runA.load(), job),
                      none -> new Sums())
                  .add(seconds, ofB.getOrDefault(job, Double.NaN)));
      runPairs.add(
          new RunPair(
              runA.workload(),
              runA.seed(),
              runA.mode(),
              runA.cluster(),
              runA.load(),
              runA.jct().size(),
              mean(runA),
              mean(pair.getValue())));
    }
    double[] secondsA = sums.values().stream().mapToDouble(job -> job.a / job.times).toArray();
    double[] secondsB = sums.values().stream().mapToDouble(job -> job.b / job.times).toArray();
    double[] differences = new double[secondsA.length];
    Arrays.setAll(differences, i -> secondsB[i] - secondsA[i]);
    return new Comparison(
        policyA,
        policyB,
        runPairs,
        secondsA.length,
        Times.of(secondsA),
        Times.of(secondsB),
        Interval.ofMean(differences),
        Interval.ofRatio(secondsA, secondsB),
        Interval.ofMean(runPairs.stream().mapToDouble(p -> p.meanB() - p.meanA()).toArray()),
        (int) Arrays.stream(differences).filter(d -> d < -TIE_SECONDS).count(),
        (int) Arrays.stream(differences).filter(d -> d > TIE_SECONDS).count());
  }

  private static final class Sums {
    private double a;
    private double b;
    private int times;

    void add(double secondsA, double secondsB) {
      a += secondsA;
      b += secondsB;
      times++;
    }
  }

  private static double mean(RunFile.Entry run) {
    return run.jct().values().stream().mapToDouble(Double::doubleValue).average().orElseThrow();
  }

  /** Jobs that finish at the same time under both. */
  public int ties() {
    return jobs - wins - losses;
  }
}
