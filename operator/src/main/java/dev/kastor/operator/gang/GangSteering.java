package dev.kastor.operator.gang;

import dev.kastor.crds.trainingjob.FaultToleranceSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.kube.EventRecorder;
import dev.kastor.operator.kube.Labels;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Steps that make and remove the pods of jobs with a template: all of them or none. */
@Singleton
public final class GangSteering {
  private static final Logger LOG = LoggerFactory.getLogger(GangSteering.class);
  private static final Duration LATER = Duration.ofSeconds(10);
  private static final Duration SOON = Duration.ofSeconds(1);

  private final JobPods pods;
  private final GangCreation creation;
  private final Gates gates;
  private final EventRecorder events;
  private final InstantSource clock;

  public GangSteering(
      JobPods pods, GangCreation creation, Gates gates, EventRecorder events, InstantSource clock) {
    this.pods = pods;
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
      case GangPlan.Clear clear -> {
        clear
            .why()
            .filter(why -> !target.isEmpty())
            .ifPresent(why -> tell(job, why));
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
