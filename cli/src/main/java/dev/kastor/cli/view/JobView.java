package dev.kastor.cli.view;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.kastor.cli.terminal.Format;
import dev.kastor.cli.terminal.Ink;
import dev.kastor.crds.trainingjob.Note;
import dev.kastor.crds.trainingjob.Pin;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.crds.trainingjob.TrainingJobStatus.TrainingStatus;
import dev.kastor.text.PrintableText;
import io.fabric8.kubernetes.api.model.Condition;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A job as lists show it; also what {@code --json} prints.
 *
 * @param replicas replicas that the scheduler gave it
 * @param minReplicas bound of its spec
 * @param maxReplicas bound of its spec
 * @param slotsPerReplica GPUs of each replica
 * @param jctSeconds from creation to completion; absent before
 * @param reason of its phase, as one word
 * @param pinned what its annotation asks: {@code here} or a number of replicas
 * @param note what somebody wrote to it, as one line
 * @param nodes replicas by node
 * @param gpuType GPU type that it trains on
 * @param goodputByGpuType predicted goodput of its present size on each GPU type that it measured
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record JobView(
    String namespace,
    String name,
    String phase,
    int replicas,
    int minReplicas,
    int maxReplicas,
    int slotsPerReplica,
    @Nullable Integer globalBatch,
    @Nullable Integer percent,
    @Nullable Double goodput,
    @Nullable Double throughput,
    @Nullable Double efficiency,
    @Nullable Double loss,
    @Nullable Integer rescales,
    @Nullable Integer restarts,
    @Nullable Long medianPauseMillis,
    @Nullable String eta,
    @Nullable String created,
    @Nullable String completed,
    @Nullable Double jctSeconds,
    @Nullable String metricName,
    @Nullable Double finalMetric,
    @Nullable String reason,
    @Nullable String why,
    @Nullable String queue,
    @Nullable Integer priority,
    @Nullable String pinned,
    @Nullable String note,
    @Nullable Map<String, Integer> nodes,
    @Nullable String gpuType,
    @Nullable Map<String, Double> goodputByGpuType) {
  public static final List<String> HEADER =
      List.of(
          "NAME",
          "PHASE",
          "REPLICAS",
          "BATCH",
          "DONE",
          "GOODPUT",
          "LOSS",
          "RESCALES",
          "ETA",
          "AGE",
          "REASON");
  public static final List<String> MORE_HEADER =
      List.of("QUEUE", "PRIORITY", "PINNED", "NODES", "WHY");

  public static JobView of(TrainingJob job) {
    @Nullable TrainingJobStatus status = job.getStatus();
    @Nullable TrainingStatus training = status == null ? null : status.training();
    @Nullable AllocationStatus allocation = status == null ? null : status.allocation();
    @Nullable Phase phase = status == null ? null : status.phase();
    var elastic = job.getSpec().elastic();
    String created = job.getMetadata().getCreationTimestamp();
    @Nullable String completed = status == null ? null : status.completionTime();
    return new JobView(
        job.getMetadata().getNamespace(),
        job.getMetadata().getName(),
        phase == null ? "New" : phase.name(),
        allocation == null ? 0 : allocation.replicas(),
        elastic == null || elastic.minReplicas() == null ? 1 : elastic.minReplicas(),
        elastic == null || elastic.maxReplicas() == null ? 1 : elastic.maxReplicas(),
        allocation == null || allocation.slotsPerReplica() == null
            ? job.getSpec().slotsPerReplica()
            : allocation.slotsPerReplica(),
        training == null ? null : training.globalBatch(),
        training == null ? null : training.percent(),
        training == null ? null : training.goodput(),
        training == null ? null : training.throughput(),
        training == null ? null : training.efficiency(),
        training == null ? null : training.loss(),
        training == null ? null : training.rescales(),
        status == null ? null : status.restarts(),
        training == null ? null : training.medianPauseMillis(),
        status == null ? null : status.expectedEnd(),
        created,
        completed,
        seconds(created, completed),
        training == null ? null : training.metricName(),
        training == null ? null : training.finalMetric(),
        reason(status),
        allocation == null ? null : allocation.message(),
        job.getSpec().queue(),
        job.getSpec().priority(),
        annotation(job),
        Note.of(job).map(PrintableText::line).orElse(null),
        allocation == null || allocation.nodes() == null ? null : new TreeMap<>(allocation.nodes()),
        training == null ? null : training.gpuType(),
        training == null || training.goodputByGpuType() == null
            ? null
            : new TreeMap<>(training.goodputByGpuType()));
  }

  /** Goodput of its present size by GPU type, as one sentence; empty where there are no types. */
  public Optional<String> gpuTypes() {
    if (gpuType == null) {
      return Optional.empty();
    }
    Map<String, Double> known = goodputByGpuType == null ? Map.of() : goodputByGpuType;
    return Optional.of(
        known.isEmpty()
            ? "trains on %s, whose goodput is not measured yet".formatted(gpuType)
            : known.entrySet().stream()
                .map(e ->
                    "%s %s%s"
                        .formatted(
                            e.getKey(),
                            Format.number(e.getValue()),
                            e.getKey().equals(gpuType) ? " (trains there)" : ""))
                .collect(Collectors.joining(", ", "goodput of this size on ", "")));
  }

  /** The reason of the condition that stands for the phase. */
  private static @Nullable String reason(@Nullable TrainingJobStatus status) {
    if (status == null || status.phase() == null || status.conditions() == null) {
      return null;
    }
    String type = status.phase() == Phase.Succeeded ? "Complete" : status.phase().name();
    return status.conditions().stream()
        .filter(condition -> type.equals(condition.getType()))
        .filter(condition -> "True".equals(condition.getStatus()))
        .map(Condition::getReason)
        .findFirst()
        .orElse(null);
  }

  private static @Nullable String annotation(TrainingJob job) {
    var annotations = job.getMetadata().getAnnotations();
    return annotations == null ? null : annotations.get(Pin.ANNOTATION);
  }

  private static @Nullable Double seconds(@Nullable String from, @Nullable String to) {
    Optional<Instant> start = Format.instant(from);
    Optional<Instant> end = Format.instant(to);
    return start.isPresent() && end.isPresent()
        ? Duration.between(start.get(), end.get()).toMillis() / 1000.0
        : null;
  }

  /** GPUs that it holds. */
  public int slots() {
    return replicas * slotsPerReplica;
  }

  /** The size of its replicas, where they have more than one GPU: {@code of 4 GPUs each}. */
  public String each() {
    return slotsPerReplica == 1 ? "" : " of %d GPUs each".formatted(slotsPerReplica);
  }

  public boolean ended() {
    return phase.equals(Phase.Succeeded.name()) || phase.equals(Phase.Failed.name());
  }

  /** The name by which kubectl knows it. */
  public String resource() {
    return "trainingjob.kastor.dev/" + name;
  }

  public boolean succeeded() {
    return phase.equals(Phase.Succeeded.name());
  }

  public List<String> cells(Instant now) {
    List<String> cells = new ArrayList<>();
    cells.add(name);
    cells.add(coloured(phase));
    cells.add(
        replicas
            + "/"
            + minReplicas
            + "-"
            + maxReplicas
            + (slotsPerReplica == 1 ? "" : " x" + slotsPerReplica));
    cells.add(globalBatch == null || globalBatch == 0 ? "-" : globalBatch.toString());
    cells.add(percent == null ? "-" : percent + "%");
    cells.add(ended() ? "-" : Format.number(goodput));
    cells.add(Format.number(loss));
    cells.add(rescales == null ? "-" : rescales.toString());
    cells.add(end(now));
    cells.add(Format.between(Format.instant(created), Optional.of(now)));
    cells.add(reason == null ? "-" : reason);
    return cells;
  }

  /** When it will be done, or how long it took. */
  private String end(Instant now) {
    if (ended()) {
      return "took " + Format.between(Format.instant(created), Format.instant(completed));
    }
    return Format.between(Optional.of(now), Format.instant(eta));
  }

  /** What a wide list shows behind {@link #cells}. */
  public List<String> moreCells() {
    return List.of(
        queue == null || queue.isEmpty() ? "-" : queue,
        priority == null ? "0" : priority.toString(),
        pinned == null ? "-" : pinned,
        nodes == null || nodes.isEmpty()
            ? "-"
            : nodes.entrySet().stream()
                .map(e -> e.getKey() + ":" + e.getValue())
                .collect(Collectors.joining(",")),
        why == null ? "-" : why);
  }

  public static String coloured(String phase) {
    return switch (phase) {
      case "Running" -> Ink.CYAN.on(phase);
      case "Succeeded" -> Ink.GREEN.on(phase);
      case "Failed" -> Ink.RED.on(phase);
      case "Queued", "Starting", "Suspended" -> Ink.YELLOW.on(phase);
      default -> phase;
    };
  }
}
