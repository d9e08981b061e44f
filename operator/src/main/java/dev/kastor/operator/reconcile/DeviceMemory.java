package dev.kastor.operator.reconcile;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.kube.EventRecorder;
import dev.kastor.operator.kube.JobRecords;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.nodes.NodeTypes;
import dev.kastor.operator.pods.PodView;
import dev.kastor.operator.telemetry.TelemetryStore;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Memory of the devices of jobs: a replica that ran out of it lowers the largest batch that the
 * job's replicas get from then on, and its owner is told once.
 */
@Singleton
final class DeviceMemory {
  private static final Logger LOG = LoggerFactory.getLogger(DeviceMemory.class);

  private final EventRecorder events;
  private final TelemetryStore telemetry;
  private final NodeTypes types;
  private final Map<String, Set<String>> seen;

  DeviceMemory(
      JobRecords records, EventRecorder events, TelemetryStore telemetry, NodeTypes types) {
    seen = records.part();
    this.events = events;
    this.telemetry = telemetry;
    this.types = types;
  }

  /** Takes note of those of these pods that ran out of memory and were not noted yet. */
  void take(TrainingJob job, List<PodView> pods) {
    for (PodView pod : pods) {
      if (pod.failed()) {
        pod.outcome()
            .flatMap(outcome -> Optional.ofNullable(outcome.outOfMemoryAt()))
            .filter(at -> isNew(job, pod))
            .ifPresent(at -> take(job, pod, at));
      }
    }
  }

  private void take(TrainingJob job, PodView pod, int at) {
    OptionalInt most = telemetry.outOfMemory(job, types.of(pod.node()), at);
    String message =
        most.isPresent()
            ? "%s ran out of memory at %d examples a pass: replicas get at most %d from now on. Set goodput.batchSize.perDevice.max to what fits to begin with it."
                .formatted(pod.name(), at, most.getAsInt())
            : "%s ran out of memory at %d examples a pass, and goodput.batchSize.perDevice.min allows no fewer. Lower it, or use devices with more memory."
                .formatted(pod.name(), at);
    events.warning(job, "OutOfMemory", message);
    LOG.warn("{}: {}", Labels.id(job), message);
  }

  /**
   * The job as new replicas are to see it: what they try before they are members has to fit as
   * well, on whichever type they come to be.
   */
  TrainingJob fitting(TrainingJob job) {
    OptionalInt most =
        telemetry.mostExamples(job).values().stream().mapToInt(Integer::intValue).min();
    if (most.isEmpty()) {
      return job;
    }
    TrainingJob fitting = new TrainingJob();
    fitting.setMetadata(job.getMetadata());
    fitting.setSpec(job.getSpec().fitting(most.getAsInt()));
    fitting.setStatus(job.getStatus());
    return fitting;
  }

  private boolean isNew(TrainingJob job, PodView pod) {
    return seen.computeIfAbsent(job.getMetadata().getUid(), uid -> ConcurrentHashMap.newKeySet())
        .add(pod.name());
  }
}
