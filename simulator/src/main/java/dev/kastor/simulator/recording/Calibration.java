package dev.kastor.simulator.recording;

import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.PlacementShape;
import dev.kastor.scheduler.live.RecordedJob;
import dev.kastor.scheduler.live.RecordedJob.Held;
import dev.kastor.scheduler.model.BatchChoice;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.simulator.event.LiveStart;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Calibration of a recorded job's fitted model: how much longer it really took for its work with
 * what it was given than the model says. What no report of a step time tells is in it: evaluations,
 * checkpoints, neighbours, an end that is told late.
 */
final class Calibration {
  /** Beyond that the recording, not the model, is at fault. */
  private static final double MOST = 2;

  private final RecordedJob recorded;
  private final LiveStart job;
  private final Map<String, String> gpuTypes;

  /** Time for which replicas trained on some nodes. */
  private record Stretch(double seconds, Map<String, Integer> nodes) {}

  /**
   * The calibration of a job.
   *
   * @param gpuTypes GPU types of all nodes by name
   */
  Calibration(RecordedJob recorded, LiveStart job, Map<String, String> gpuTypes) {
    this.recorded = recorded;
    this.job = job;
    this.gpuTypes = gpuTypes;
  }

  /** By how much a step takes longer than the model says; 1 where that cannot be told. */
  double slowdown() {
    double work = job.truth().progressAt(job.truth().epochs());
    if (recorded.ended() == null || recorded.forgottenChanges() > 0) {
      return 1;
    }
    List<Stretch> stretches = stretches(Instant.parse(recorded.ended()));
    double all = stretches.stream().mapToDouble(Stretch::seconds).sum();
    double expected = 0;
    double passed = 0;
    for (Stretch stretch : stretches) {
      // Within a stretch the noise is taken as it was in its middle.
      double share = (passed + stretch.seconds() / 2) / all;
      expected += stretch.seconds() * stepsPerSecond(stretch.nodes(), share);
      passed += stretch.seconds();
    }
    return expected > 0 ? Math.clamp(expected / work, 1 / MOST, MOST) : 1;
  }

  /** Scale-invariant steps that the model expects in a second. */
  private double stepsPerSecond(Map<String, Integer> nodes, double shareOfTime) {
    int replicas = nodes.values().stream().mapToInt(Integer::intValue).sum();
    String type = gpuTypes.getOrDefault(nodes.keySet().iterator().next(), "");
    GoodputModel model = job.model();
    if (replicas == 0 || !model.knows(type)) {
      return 0;
    }
    int epoch = (int) Math.min(shareOfTime * job.truth().epochs(), job.truth().epochs() - 1.0);
    JobSpec spec = job.job().state().spec();
    int initial = spec.batchLimits().initialGlobalBatch();
    GoodputModel then =
        new GoodputModel(
            model.paramsByType(), model.factorsByType(), job.truth().gradient(initial, epoch));
    return BatchChoice.goodput(spec, then, new PlacementShape(nodes.size(), replicas, type))
        / initial;
  }

  /** The pauses of changes left out. */
  private List<Stretch> stretches(Instant end) {
    double restart = job.job().state().restartCost().toNanos() * 1e-9;
    double rescale = job.rescalePause().toNanos() * 1e-9;
    boolean restarts = job.job().state().spec().elasticity() instanceof Elasticity.Restarting;
    List<Stretch> stretches = new ArrayList<>();
    Map<String, Integer> before = Map.of();
    for (int i = 0; i < recorded.held().size(); i++) {
      Held held = recorded.held().get(i);
      Instant next =
          i + 1 < recorded.held().size() ? Instant.parse(recorded.held().get(i + 1).at()) : end;
      Instant until = next.isBefore(end) ? next : end;
      double seconds = Duration.between(Instant.parse(held.at()), until).toNanos() * 1e-9;
      Map<String, Integer> kept = common(before, held.nodes());
      before = held.nodes();
      if (held.nodes().isEmpty() || seconds <= 0) {
        continue;
      }
      double pause = kept.isEmpty() || restarts ? restart : rescale;
      if (!kept.isEmpty() && !restarts && !kept.equals(held.nodes())) {
        // Replicas that are added start while those that stay train on.
        double starting = Math.min(restart, seconds);
        stretches.add(new Stretch(starting, kept));
        seconds -= starting;
      }
      if (seconds > pause) {
        stretches.add(new Stretch(seconds - pause, held.nodes()));
      }
    }
    return stretches;
  }

  private static Map<String, Integer> common(
      Map<String, Integer> before, Map<String, Integer> after) {
    Map<String, Integer> both = new LinkedHashMap<>();
    after.forEach((node, replicas) -> {
      int kept = Math.min(replicas, before.getOrDefault(node, 0));
      if (kept > 0) {
        both.put(node, kept);
      }
    });
    return both;
  }
}
