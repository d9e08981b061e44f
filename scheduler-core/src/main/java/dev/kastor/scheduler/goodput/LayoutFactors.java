package dev.kastor.scheduler.goodput;

import dev.kastor.protocol.StepProfile;
import dev.kastor.scheduler.PlacementShape;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/**
 * By how much measured step times differ from the fitted ones, by layout that was observed on one
 * GPU type: a table, with the parametric model as its prior where nothing was observed.
 *
 * @param byLayout measured over fitted step time; 1 for layouts that are not listed
 */
public record LayoutFactors(SequencedMap<Layout, Double> byLayout) {
  /** No layout was observed, or nobody asked for more than the fit. */
  public static final LayoutFactors NONE = new LayoutFactors(new LinkedHashMap<>());

  /**
   * What step times depend on beside the batch.
   *
   * @param nodes distinct nodes
   * @param replicas on all of them
   */
  public record Layout(int nodes, int replicas) {}

  public LayoutFactors {
    byLayout = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(byLayout));
  }

  /** Mean logarithms over the atomic batches that were observed of each layout. */
  static LayoutFactors of(Collection<StepProfile> profiles, ThroughputParams fitted) {
    SequencedMap<Layout, Double> sums = new LinkedHashMap<>();
    SequencedMap<Layout, Integer> counts = new LinkedHashMap<>();
    for (StepProfile profile : profiles) {
      PlacementShape shape = new PlacementShape(profile.nodes(), profile.replicas(), "");
      double fit = fitted.updateSeconds(shape, profile.atomicBatchSize());
      Layout layout = new Layout(profile.nodes(), profile.replicas());
      sums.merge(layout, Math.log(profile.stepSeconds() / fit), Double::sum);
      counts.merge(layout, 1, Integer::sum);
    }
    sums.replaceAll((layout, sum) -> Math.exp(sum / counts.getOrDefault(layout, 1)));
    return new LayoutFactors(sums);
  }

  /** Measured over fitted step time. */
  public double factor(int nodes, int replicas) {
    return byLayout.isEmpty() ? 1 : byLayout.getOrDefault(new Layout(nodes, replicas), 1.0);
  }
}
