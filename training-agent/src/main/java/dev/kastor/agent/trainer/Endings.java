package dev.kastor.agent.trainer;

import dev.kastor.agent.membership.MembershipClient;
import dev.kastor.agent.operator.WireJson;
import dev.kastor.agent.ring.Ring;
import dev.kastor.agent.telemetry.TelemetryClient;
import dev.kastor.engine.train.Trainable;
import dev.kastor.protocol.Outcome;
import dev.kastor.protocol.ReplicaState.Doing;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Ends of a replica's part in a job: what is saved and told before it, and the outcome. */
final class Endings {
  private static final Logger log = LoggerFactory.getLogger(Endings.class);
  private static final Duration LAST_REPORT_LIMIT = Duration.ofSeconds(60);

  private final String job;
  private final Replica replica;
  private final MembershipClient memberships;
  private final TelemetryClient telemetry;
  private final Checkpoints checkpoints;
  private final Evaluations evaluations;

  Endings(Surroundings around, Replica replica, Checkpoints checkpoints, Evaluations evaluations) {
    this.job = around.job();
    this.replica = replica;
    this.memberships = around.memberships();
    this.telemetry = around.telemetry();
    this.checkpoints = checkpoints;
    this.evaluations = evaluations;
  }

  /** The work is done: rank 0 evaluates, saves and tells the others, then the operator. */
  Outcome complete(Ring ring) throws IOException, InterruptedException {
    return fromRankZero(ring, ring.rank() == 0 ? completed() : null);
  }

  /** The work is done: evaluates, saves and sums up. */
  Outcome completed() throws IOException {
    Trainable.Metric metric = evaluations.last();
    memberships.doing(Doing.SAVE);
    checkpoints.save(replica.state());
    return new Outcome(
        Outcome.Kind.COMPLETED,
        replica.progress(),
        metric.name(),
        Double.isFinite(metric.value()) ? metric.value() : null,
        replica.lostOrRepeated(),
        "completed %d steps%s"
            .formatted(replica.step(), replica.selected().map(told -> ": " + told).orElse("")));
  }

  /** All members stop after the same step; none goes before the checkpoint is safe. */
  Outcome stop(Ring ring) throws IOException, InterruptedException {
    if (ring.rank() != 0) {
      return fromRankZero(ring, null);
    }
    checkpoints.save(replica.state());
    return fromRankZero(ring, stopped());
  }

  /**
   * The outcome of rank 0, which is that of all.
   *
   * @param own ours if we are rank 0
   */
  private Outcome fromRankZero(Ring ring, @Nullable Outcome own)
      throws IOException, InterruptedException {
    byte[] said = ring.allGather(own == null ? new byte[0] : WireJson.write(own)).getFirst();
    Outcome outcome = WireJson.read(said, Outcome.class);
    ring.close();
    if (own != null) {
      report(own);
    }
    return outcome;
  }

  /** Tells the operator how the job ended. */
  void report(Outcome outcome) throws InterruptedException {
    telemetry.finish(outcome, LAST_REPORT_LIMIT);
  }

  /** Told to stop while in no ring: nobody else may be left, so we save what we have. */
  Outcome stopAlone() throws IOException {
    if (replica.hasState()) {
      checkpoints.save(replica.state());
    }
    return stopped();
  }

  /** All was saved that there was to save. */
  Outcome stopped() {
    return ended(Outcome.Kind.STOPPED, "stopped at step %d".formatted(replica.step()));
  }

  /** We are no longer listed. */
  Outcome left() {
    return ended(Outcome.Kind.LEFT, "no longer a member");
  }

  /** Our gradient alone is not finite: something is wrong with us, not with the training. */
  Outcome notFinite(int others) {
    return ended(
        Outcome.Kind.FAILED,
        ("the gradient of this replica is not finite at step %d, that of the other %d is: they go"
                + " on without it. If replicas fail so again and again, look at the examples that they"
                + " read, or at their device.")
            .formatted(replica.step(), others));
  }

  /**
   * All members come to the same conclusion at the same step.
   *
   * @param unexplained whether each member's own gradient is finite and their sum alone is not:
   *     then a start from the checkpoint may help
   */
  Outcome diverged(Ring ring, DivergedException why, boolean unexplained)
      throws InterruptedException {
    log.error("{}: {}", job, why.getMessage());
    if (unexplained) {
      return ended(Outcome.Kind.FAILED, String.valueOf(why.getMessage()));
    }
    return failed(ring.rank(), String.valueOf(why.getMessage()));
  }

  /** All members come to the same conclusion at the same step: their states differ. */
  Outcome differ(int rank, DriftException why) throws InterruptedException {
    log.error("{}: {}", job, why.getMessage());
    return failed(rank, String.valueOf(why.getMessage()));
  }

  private Outcome failed(int rank, String why) throws InterruptedException {
    Outcome outcome = ended(Outcome.Kind.FAILED_PERMANENTLY, why);
    if (rank == 0) {
      report(outcome);
    }
    return outcome;
  }

  /** An outcome without a metric. */
  Outcome ended(Outcome.Kind kind, String message) {
    boolean has = replica.hasState();
    return new Outcome(
        kind,
        has ? replica.progress() : null,
        null,
        null,
        has ? replica.lostOrRepeated() : 0,
        message);
  }
}
