package dev.kastor.scheduler.goodput;

import dev.kastor.protocol.StepProfile;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.NavigableMap;
import java.util.SequencedMap;
import java.util.TreeMap;

/**
 * By how much measured step times differ from the fitted ones, by layout that was observed on one
 * GPU type: a table, with the parametric model as its prior where nothing was observed.
 *
 * @param byLayout measured over fitted step time
 * @param otherwise the same of layouts that are not listed, by the least number of replicas for
 *     which it holds; 1 for fewer
 */
public record LayoutFactors(
    SequencedMap<Layout, Double> byLayout, NavigableMap<Integer, Double> otherwise) {
  private static final NavigableMap<Integer, Double> AS_FITTED =
      Collections.unmodifiableNavigableMap(new TreeMap<>());

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
    // One empty map for all: planning looks at it for each of thousands of jobs.
    otherwise =
        otherwise.isEmpty()
            ? AS_FITTED
            : Collections.unmodifiableNavigableMap(new TreeMap<>(otherwise));
  }

  /** Factors of layouts of which those that are not listed are as fitted. */
  public LayoutFactors(SequencedMap<Layout, Double> byLayout) {
    this(byLayout, AS_FITTED);
  }

  /**
   * The same where steps take longer than was said.
   *
   * @param measured slowdown of layouts of which it was measured
   * @param others slowdown of the others, by the least number of replicas for which it holds
   */
  public LayoutFactors slowed(
      SequencedMap<Layout, Double> measured, NavigableMap<Integer, Double> others) {
    SequencedMap<Layout, Double> slower = new LinkedHashMap<>();
    byLayout.forEach((layout, factor) ->
        slower.put(layout, factor * measured.getOrDefault(layout, of(others, layout))));
    measured.forEach(slower::putIfAbsent);
    return new LayoutFactors(slower, others);
  }

  private static double of(NavigableMap<Integer, Double> byReplicas, Layout layout) {
    var entry = byReplicas.floorEntry(layout.replicas());
    return entry == null ? 1 : entry.getValue();
  }

  /** Mean logarithms over the atomic batches that were observed of each layout. */
  public static LayoutFactors of(Collection<StepProfile> profiles, ThroughputParams fitted) {
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
    if (byLayout.isEmpty()) {
      return 1;
    }
    Layout layout = new Layout(nodes, replicas);
    Double known = byLayout.get(layout);
    return known == null ? of(otherwise, layout) : known;
  }
}
