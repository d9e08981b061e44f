package dev.kastor.simulator.event;

import dev.kastor.protocol.Progress;
import dev.kastor.protocol.StepProfile;
import dev.kastor.protocol.TelemetryReport;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.LayoutFactors;
import dev.kastor.scheduler.goodput.Measured;
import dev.kastor.scheduler.goodput.ThroughputParams;
import dev.kastor.scheduler.model.JobState;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * Knowledge that an operator has of a live job, taken further by what the job reports in a replay.
 *
 * <p>The replay takes the operator's model for the truth, so there is nothing to fit: of a GPU type
 * that nobody measured, and of a job that nobody did, the first report tells what the replay goes
 * by. A job whose work is not declared goes on saying so.
 */
final class LiveKnowledge implements Knowledge {
  private final JobState live;
  private final GoodputModel truth;
  private final Duration rescalePause;
  private Optional<GoodputModel> model;
  private int maxProfiledReplicas;
  private @Nullable Progress progress;
  private @Nullable Instant saved;

  /**
   * Knowledge as of a snapshot.
   *
   * @param live what the operator told its policy
   * @param truth the model that the replay goes by, on all GPU types that there are
   * @param rescalePause pause of a live change of this job
   */
  LiveKnowledge(JobState live, GoodputModel truth, Duration rescalePause) {
    this.live = live;
    this.truth = truth;
    this.rescalePause = rescalePause;
    model = live.model();
    maxProfiledReplicas = live.maxProfiledReplicas();
    progress = live.progress().orElse(null);
  }

  /** A job that trains and was never heard of says nothing of itself. */
  private boolean silent() {
    return !live.allocation().isEmpty() && !live.restarting() && live.progress().isEmpty();
  }

  @Override
  public void observe(TelemetryReport report, Instant at) {
    if (silent()) {
      return;
    }
    progress = report.progress();
    if (report.checkpoint() != null) {
      saved = Instant.ofEpochMilli(report.checkpoint().savedAtEpochMillis());
    }
    for (StepProfile profile : report.profiles()) {
      maxProfiledReplicas = Math.max(maxProfiledReplicas, profile.replicas());
      learn(profile.typeOrEmpty());
    }
    if (report.gradient() != null && model.isPresent()) {
      GoodputModel known = model.get();
      if (!known.gradient().equals(report.gradient())) {
        model =
            Optional.of(
                new GoodputModel(known.paramsByType(), known.factorsByType(), report.gradient()));
      }
    }
  }

  private void learn(String gpuType) {
    if (model.filter(known -> known.knows(gpuType)).isPresent()) {
      return;
    }
    SequencedMap<String, ThroughputParams> params = new LinkedHashMap<>();
    SequencedMap<String, LayoutFactors> factors = new LinkedHashMap<>();
    model.ifPresent(known -> {
      params.putAll(known.paramsByType());
      factors.putAll(known.factorsByType());
    });
    params.put(gpuType, truth.params(gpuType));
    LayoutFactors corrections = truth.factorsByType().get(gpuType);
    if (corrections != null) {
      factors.put(gpuType, corrections);
    }
    model =
        Optional.of(
            new GoodputModel(
                params, factors, model.map(GoodputModel::gradient).orElse(truth.gradient())));
  }

  @Override
  public Optional<GoodputModel> model(Instant now) {
    return model;
  }

  @Override
  public Optional<GoodputModel> latestModel() {
    return model;
  }

  @Override
  public Measured measured(Instant now) {
    return new Measured(
        model,
        maxProfiledReplicas,
        Optional.ofNullable(progress),
        Optional.of(rescalePause),
        Optional.of(live.restartCost()),
        Optional.ofNullable(saved),
        live.outlook());
  }

  @Override
  public void finished(Progress at, Instant now) {}
}
