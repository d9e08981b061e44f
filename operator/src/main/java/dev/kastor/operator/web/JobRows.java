package dev.kastor.operator.web;

import dev.kastor.crds.trainingjob.ElasticSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.operator.history.JobHistory;
import dev.kastor.operator.history.Sample;
import dev.kastor.operator.web.Overview.BatchRow;
import dev.kastor.operator.web.Overview.JobRow;
import dev.kastor.operator.web.Overview.RanRow;
import dev.kastor.protocol.Progress;
import dev.kastor.scheduler.model.JobId;
import io.fabric8.kubernetes.api.model.Condition;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Makes the row of one job: the resource says what holds, and the newest report, which reaches the
 * resource only now and then, says how fast it goes.
 */
final class JobRows {
  private JobRows() {}

  static JobRow of(TrainingJob job, JobHistory history) {
    String namespace = job.getMetadata().getNamespace();
    String name = job.getMetadata().getName();
    TrainingJobStatus status = job.getStatus();
    var allocation = get(status, TrainingJobStatus::allocation);
    var training = get(status, TrainingJobStatus::training);
    Phase phase = Optional.ofNullable(get(status, TrainingJobStatus::phase)).orElse(Phase.Queued);
    var latest = history.latest(new JobId(namespace, name));
    // What an ended job did last is in its resource; a waiting job does nothing.
    Optional<Sample> now = phase == Phase.Running ? latest.sample() : Optional.empty();
    ElasticSpec elastic = job.getSpec().elastic();
    Optional<Condition> condition = condition(phase, get(status, TrainingJobStatus::conditions));
    return new JobRow(
        namespace,
        name,
        job.getSpec().runs(),
        phase,
        job.getMetadata().getCreationTimestamp(),
        get(status, TrainingJobStatus::startTime),
        get(status, TrainingJobStatus::completionTime),
        allocation == null || isOver(phase) ? 0 : allocation.replicas(),
        now.map(Sample::replicas).orElse(null),
        orOne(get(elastic, ElasticSpec::minReplicas)),
        orOne(get(elastic, ElasticSpec::maxReplicas)),
        job.getSpec().slotsPerReplica(),
        allocation == null || isOver(phase) ? Map.of() : allocation.nodes(),
        get(allocation, TrainingJobStatus.AllocationStatus::reason),
        get(allocation, TrainingJobStatus.AllocationStatus::message),
        condition.map(Condition::getReason).orElse(null),
        condition.map(Condition::getMessage).filter(text -> !text.isBlank()).orElse(null),
        get(allocation, TrainingJobStatus.AllocationStatus::since),
        batch(training, now),
        ran(training),
        newest(now, Sample::goodput, get(training, TrainingJobStatus.TrainingStatus::goodput)),
        newest(
            now, Sample::throughput, get(training, TrainingJobStatus.TrainingStatus::throughput)),
        newest(
            now, Sample::efficiency, get(training, TrainingJobStatus.TrainingStatus::efficiency)),
        get(training, TrainingJobStatus.TrainingStatus::noiseScale),
        newest(now, Sample::loss, get(training, TrainingJobStatus.TrainingStatus::loss)),
        percent(phase, training, latest.progress()),
        latest
            .progress()
            .map(Progress::step)
            .orElse(get(training, TrainingJobStatus.TrainingStatus::step)),
        get(status, TrainingJobStatus::expectedEnd),
        get(training, TrainingJobStatus.TrainingStatus::metricName),
        get(training, TrainingJobStatus.TrainingStatus::finalMetric),
        get(training, TrainingJobStatus.TrainingStatus::lostOrRepeatedExamples),
        orZero(get(status, TrainingJobStatus::restarts)),
        orZero(get(training, TrainingJobStatus.TrainingStatus::rescales)),
        orZero(get(training, TrainingJobStatus.TrainingStatus::grows)),
        orZero(get(training, TrainingJobStatus.TrainingStatus::shrinks)),
        get(training, TrainingJobStatus.TrainingStatus::medianPauseMillis),
        get(training, TrainingJobStatus.TrainingStatus::maxPauseMillis),
        get(training, TrainingJobStatus.TrainingStatus::checkpointStep),
        get(training, TrainingJobStatus.TrainingStatus::checkpointTime),
        Optional.ofNullable(get(training, TrainingJobStatus.TrainingStatus::predictedGoodput))
            .orElse(Map.of()));
  }

  static boolean isOver(@Nullable Phase phase) {
    return phase == Phase.Succeeded || phase == Phase.Failed;
  }

  private static @Nullable BatchRow batch(
      TrainingJobStatus.@Nullable TrainingStatus training, Optional<Sample> now) {
    if (now.isPresent()) {
      Sample sample = now.get();
      return new BatchRow(
          sample.globalBatch(),
          sample.batch().atomicBatchSize(),
          sample.batch().accumulationSteps());
    }
    return training == null || training.globalBatch() == 0
        ? null
        : new BatchRow(
            training.globalBatch(), training.atomicBatch(), training.accumulationSteps());
  }

  private static @Nullable RanRow ran(TrainingJobStatus.@Nullable TrainingStatus training) {
    return training == null || training.maxReplicas() == 0
        ? null
        : new RanRow(
            training.minReplicas(),
            training.maxReplicas(),
            training.minGlobalBatch(),
            training.maxGlobalBatch());
  }

  /** The condition that stands for the phase. */
  private static Optional<Condition> condition(Phase phase, @Nullable List<Condition> conditions) {
    String type = phase == Phase.Succeeded ? "Complete" : phase.name();
    return conditions == null
        ? Optional.empty()
        : conditions.stream()
            .filter(condition -> type.equals(condition.getType()))
            .filter(condition -> "True".equals(condition.getStatus()))
            .findFirst();
  }

  private static double percent(
      Phase phase,
      TrainingJobStatus.@Nullable TrainingStatus training,
      Optional<Progress> progress) {
    if (phase == Phase.Succeeded) {
      return 100;
    }
    // The newest report is right even when it is behind the summary: after a start from a
    // checkpoint.
    return progress
        .map(known -> known.fraction() * 100)
        .orElse(training == null ? 0.0 : training.percent());
  }

  private static @Nullable Double newest(
      Optional<Sample> now, ToDoubleFunction<Sample> value, @Nullable Double otherwise) {
    Double known = now.map(sample -> HistoryView.known(value.applyAsDouble(sample))).orElse(null);
    return known == null ? otherwise : known;
  }

  private static <T, R> @Nullable R get(@Nullable T source, Function<T, @Nullable R> field) {
    return source == null ? null : field.apply(source);
  }

  private static int orOne(@Nullable Integer value) {
    return value == null ? 1 : value;
  }

  private static int orZero(@Nullable Integer value) {
    return value == null ? 0 : value;
  }
}
