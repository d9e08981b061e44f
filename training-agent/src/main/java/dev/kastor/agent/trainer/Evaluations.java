package dev.kastor.agent.trainer;

import dev.kastor.agent.membership.MembershipClient;
import dev.kastor.agent.telemetry.TelemetryClient;
import dev.kastor.engine.train.Trainable;
import dev.kastor.protocol.ReplicaState.Doing;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Evaluations of the parameters on held-out data by rank 0, while it trains and at the end. They
 * change nothing. The others wait at the exchange of the next step.
 */
final class Evaluations {
  private static final Logger log = LoggerFactory.getLogger(Evaluations.class);

  private final String job;
  private final Replica replica;
  private final MembershipClient memberships;
  private final TelemetryClient telemetry;
  private final EvaluationPace pace;

  Evaluations(Surroundings around, Replica replica, EvaluationPace pace) {
    this.job = around.job();
    this.replica = replica;
    this.memberships = around.memberships();
    this.telemetry = around.telemetry();
    this.pace = pace;
  }

  /** A step was taken. */
  void stepped(double seconds) {
    pace.stepped(seconds);
  }

  /**
   * Evaluates if it is time to.
   *
   * @param secondsPerExample of a pass
   * @return whether it did
   */
  boolean whenDue(double secondsPerExample) {
    int examples = replica.heldOutExamples();
    if (examples == 0 || !pace.due(examples * secondsPerExample)) {
      return false;
    }
    long start = System.nanoTime();
    Trainable.Metric metric = evaluate();
    pace.evaluated((System.nanoTime() - start) * 1e-9);
    memberships.doing(Doing.TRAIN);
    tell(metric);
    return true;
  }

  /** Evaluates at the end. */
  Trainable.Metric last() {
    Trainable.Metric metric = evaluate();
    tell(metric);
    return metric;
  }

  private Trainable.Metric evaluate() {
    memberships.doing(Doing.EVALUATE);
    return replica.evaluate();
  }

  private void tell(Trainable.Metric metric) {
    log.info("{}: held-out {} at step {}: {}", job, metric.name(), replica.step(), metric.value());
    telemetry.evaluated(metric.name(), metric.value());
  }
}
