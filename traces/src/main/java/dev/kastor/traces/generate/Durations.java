package dev.kastor.traces.generate;

import java.util.List;
import org.apache.commons.math3.distribution.NormalDistribution;

/** How long jobs run, by their size. */
sealed interface Durations {
  /**
   * The duration that a share of the jobs of a size does not exceed, in seconds.
   *
   * @param share in (0, 1)
   */
  double seconds(int gpus, double share);

  /**
   * Measured quantiles, with straight lines between their logarithms.
   *
   * @param shares rising from 0 to 1
   * @param groups by rising size
   */
  record Quantiles(List<Double> shares, List<Group> groups) implements Durations {
    /** Quantiles at the shares for jobs of at most {@code mostGpus}. */
    record Group(int mostGpus, List<Double> seconds) {}

    @Override
    public double seconds(int gpus, double share) {
      List<Double> quantiles =
          groups.stream()
              .filter(group -> gpus <= group.mostGpus())
              .findFirst()
              .orElseGet(groups::getLast)
              .seconds();
      int above = 1;
      while (above < shares.size() - 1 && shares.get(above) < share) {
        above++;
      }
      double weight = (share - shares.get(above - 1)) / (shares.get(above) - shares.get(above - 1));
      double low = Math.log(quantiles.get(above - 1));
      return Math.exp(low + weight * (Math.log(quantiles.get(above)) - low));
    }
  }

  /**
   * A lognormal distribution cut at a longest duration, the same for all sizes.
   *
   * @param medianSeconds median
   * @param sigma standard deviation of the logarithm
   * @param mostSeconds longest
   */
  record LogNormal(double medianSeconds, double sigma, double mostSeconds) implements Durations {
    private static final NormalDistribution NORMAL = new NormalDistribution();

    @Override
    public double seconds(int gpus, double share) {
      double z = NORMAL.inverseCumulativeProbability(share);
      return Math.min(mostSeconds, medianSeconds * Math.exp(sigma * z));
    }
  }
}
