package dev.kastor.operator.gang;

import dev.kastor.crds.trainingjob.FaultToleranceSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.operator.allocation.AllocationWriter;
import dev.kastor.operator.kube.EventRecorder;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.kube.SlotCount;
import dev.kastor.operator.kube.StoredTime;
import dev.kastor.operator.pods.Failures;
import dev.kastor.operator.pods.GangPlan;
import dev.kastor.operator.pods.GangPod;
import dev.kastor.operator.pods.Gates;
import dev.kastor.operator.pods.InvalidTemplate;
import dev.kastor.operator.pods.JobPods;
import dev.kastor.scheduler.model.Allocation;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Steps that make and remove the pods of jobs with a template: all of them or none. */
@Singleton
public final class GangSteering {
  private static final Logger LOG = LoggerFactory.getLogger(GangSteering.class);
  private static final Duration LATER = Duration.ofSeconds(10);
  private static final Duration SOON = Duration.ofSeconds(1);

  /** As long as most pods that were told to end take for it. */
  private static final Duration MOST_WAIT = Duration.ofSeconds(40);

  private final JobPods pods;
  private final AllocationWriter allocations;
  private final GangCreation creation;
  private final Gates gates;
  private final EventRecorder events;
  private final InstantSource clock;

  public GangSteering(
      JobPods pods,
      AllocationWriter allocations,
      GangCreation creation,
      Gates gates,
      EventRecorder events,
      InstantSource clock) {
    this.pods = pods;
    this.allocations = allocations;
    this.creation = creation;
    this.gates = gates;
    this.events = events;
    this.clock = clock;
  }

  /**
   * One step towards the target; says when the next is due unless something happens before.
   *
   * @throws InvalidTemplate if no pods can be made of the template
   */
  public Duration steer(
      TrainingJob job,
      List<GangPod> gang,
      Failures failures,
      FaultToleranceSpec tolerance,
      Allocation target)
      throws InvalidTemplate {
    return switch (GangPlan.of(target, gang)) {
      case GangPlan.Succeeded succeeded -> LATER;
      case GangPlan.Keep keep -> LATER;
      case GangPlan.Open open -> gates.open(job, open.pods()) ? LATER : SOON;
      case GangPlan.Clear clear when waits(job, gang, clear, target) -> SOON;
      case GangPlan.Clear clear -> {
        clear.why().filter(why -> !target.isEmpty()).ifPresent(why -> tell(job, why));
        clear.pods().forEach(pod -> pods.delete(job, pod));
        yield SOON;
      }
      case GangPlan.Create create -> {
        Instant now = clock.instant();
        Instant attempt = failures.nextAttempt(tolerance);
        if (create.first().isEmpty() && now.isBefore(attempt)) {
          yield Duration.between(now, attempt).plusMillis(10);
        }
        creation.create(job, gang, create, target);
        yield SOON;
      }
    };
  }

  /**
   * Whether a gang that is to have other slots trains on because others still hold these. Where
   * each of two waits for the other's, one has to go first.
   */
  private boolean waits(
      TrainingJob job, List<GangPod> gang, GangPlan.Clear clear, Allocation target) {
    boolean decided = clear.why().filter(GangPlan.Fault::decided).isPresent();
    boolean broken = gang.stream().anyMatch(pod -> pod.view().deleting());
    AllocationStatus given = allocations.current(job);
    Optional<Instant> since = StoredTime.of(given == null ? null : given.since());
    if (!decided
        || broken
        || target.isEmpty()
        || since.filter(at -> clock.instant().isBefore(at.plus(MOST_WAIT))).isEmpty()) {
      return false;
    }
    try (var claim = pods.claim(job, GangPlan.missingSlots(target, gang), SlotCount::usable)) {
      return !claim.whole();
    }
  }

  private void tell(TrainingJob job, GangPlan.Fault why) {
    String message = "All pods start again: " + why.message();
    if (why.decided()) {
      events.normal(job, "GangMoves", message);
      LOG.info("{}: {}", Labels.id(job), message);
    } else {
      events.warning(job, "GangRestarts", message);
      LOG.warn("{}: {}", Labels.id(job), message);
    }
  }
}
