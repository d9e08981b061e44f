package dev.kastor.operator.gang;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.operator.allocation.AllocationWriter;
import dev.kastor.operator.kube.StoredTime;
import dev.kastor.operator.nodes.NodeTypes;
import dev.kastor.operator.pods.GangPlan;
import dev.kastor.operator.pods.GangPod;
import dev.kastor.operator.pods.JobPods;
import dev.kastor.operator.signal.Mandate;
import dev.kastor.operator.telemetry.TelemetryStore;
import dev.kastor.protocol.StepCount;
import jakarta.inject.Singleton;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Progress of gangs whose size changes, as their scripts count it. Only the pod of rank 0 of the
 * newest start is heard: it counts for all.
 */
@Singleton
public final class GangProgress {
  private final JobPods pods;
  private final NodeTypes types;
  private final AllocationWriter allocations;
  private final TelemetryStore telemetry;
  private final Mandate mandate;

  public GangProgress(
      JobPods pods,
      NodeTypes types,
      AllocationWriter allocations,
      TelemetryStore telemetry,
      Mandate mandate) {
    this.pods = pods;
    this.types = types;
    this.allocations = allocations;
    this.telemetry = telemetry;
    this.mandate = mandate;
  }

  /**
   * Takes in a count.
   *
   * @param pod the sender, which belongs to the job
   * @return why it is not taken in; empty if it was
   * @throws IllegalArgumentException if no job can have been so fast
   */
  public Optional<String> count(TrainingJob job, String pod, StepCount count) {
    List<GangPod> start = GangPlan.newestStart(pods.gang(job));
    Optional<GangPod> sender =
        start.stream().filter(each -> each.view().name().equals(pod)).findFirst();
    if (sender.isEmpty()) {
      return Optional.of("pod %s is not of the newest start of the gang".formatted(pod));
    }
    if (sender.get().rank() != 0) {
      return Optional.of(
          "pod %s has rank %d: the pod of rank 0 counts the steps of all"
              .formatted(pod, sender.get().rank()));
    }
    List<String> nodes = start.stream().map(each -> each.view().node()).distinct().toList();
    Instant made = sender.get().view().created();
    AllocationStatus allocation = allocations.current(job);
    telemetry.count(
        job,
        new TelemetryStore.Start(
            // The first pod of a job has the number 0, and the first generation 1.
            sender.get().first() + 1,
            nodes,
            start.size(),
            types.of(nodes),
            Optional.of(made).filter(at -> !at.isBefore(mandate.since())),
            StoredTime.of(allocation == null ? null : allocation.since())),
        pod,
        count);
    return Optional.empty();
  }
}
