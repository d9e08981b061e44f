package dev.kastor.agent.trainer;

import dev.kastor.agent.telemetry.StepSample;
import dev.kastor.agent.telemetry.TelemetryClient;
import dev.kastor.agent.telemetry.TrainingStatus;
import dev.kastor.protocol.Member;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.Switch;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What server 0 reports of updates and generations. One thread owns it. */
final class UpdateReports {
  private final TelemetryClient telemetry;
  private final Replica replica;
  private final ColdReplicas cold;
  private @Nullable Membership membership;
  private double[] passSeconds = {};
  private long lastNanos = System.nanoTime();

  /** Workers of the last generation whose workers came. */
  private int told;

  /** Why the generation began, until its workers are there. */
  private Switch.@Nullable Cause entering;

  UpdateReports(TelemetryClient telemetry, Replica replica, ColdReplicas cold) {
    this.telemetry = telemetry;
    this.replica = replica;
    this.cold = cold;
  }

  /**
   * A generation begins.
   *
   * @param broke whether somebody was lost since the one before
   */
  void began(Membership next, boolean broke) {
    membership = next;
    passSeconds = new double[next.members().size()];
    // A failure that nobody has been told of stays one.
    boolean failed = broke || entering == Switch.Cause.FAILURE;
    Switch.Cause usual = failed ? Switch.Cause.FAILURE : Switch.Cause.RESCALE;
    entering = told == 0 ? Switch.Cause.START : usual;
    telemetry.reached(status());
  }

  /**
   * The workers of the generation are there.
   *
   * @return the change from the one before, whose pause is over; empty if that is known already
   */
  Optional<Switch> joined() {
    Switch.Cause cause = entering;
    if (cause == null) {
      return Optional.empty();
    }
    entering = null;
    Membership now = Objects.requireNonNull(membership);
    cold.joined(now, System.nanoTime());
    double pause = (System.nanoTime() - lastNanos) * 1e-9;
    Switch change = new Switch(now.generation(), told, now.members().size(), cause, pause);
    told = now.members().size();
    telemetry.switched(change);
    telemetry.reached(status());
    return Optional.of(change);
  }

  /** What was done since the last update is no part of the time of the next one. */
  void paused() {
    lastNanos = System.nanoTime();
  }

  /** See {@link TelemetryClient#stale}. */
  void stale(long staleness) {
    telemetry.stale(staleness);
  }

  /** See {@link TelemetryClient#dropped}. */
  void dropped(long copies) {
    telemetry.dropped(copies);
  }

  /**
   * An update is applied.
   *
   * @param pass mean time of a pass of the slowest of its shares
   * @param usual whether the time since the last one says what one costs
   * @return that time
   */
  double updated(List<Desk.Arrived> results, double pass, boolean usual, double loss) {
    long now = System.nanoTime();
    double seconds = (now - lastNanos) * 1e-9;
    lastNanos = now;
    for (Desk.Arrived each : results) {
      // Another generation may have had more workers.
      if (each.rank() < passSeconds.length) {
        passSeconds[each.rank()] = each.passed().passSeconds();
      }
    }
    if (Arrays.stream(passSeconds).allMatch(each -> each > 0)) {
      telemetry.compared(
          Objects.requireNonNull(membership).members().stream().map(Member::pod).toList(),
          passSeconds.clone());
    }
    telemetry.stepped(sample(seconds, pass, results.size(), usual && cold.warm(now), loss));
    return seconds;
  }

  /**
   * An update as the scheduler sees it, which knows of workers: the time in which as many shares as
   * there are workers count.
   */
  private StepSample sample(double seconds, double pass, int shares, boolean usual, double loss) {
    TrainingStatus status = status();
    double whole = seconds * status.replicas() / shares;
    double sync = Math.max(0, whole - pass * (status.batch().accumulationSteps() + 1));
    return new StepSample(status, usual && pass > 0, 1, pass, sync, loss);
  }

  private TrainingStatus status() {
    Membership now = Objects.requireNonNull(membership);
    List<Member> members = now.members();
    return new TrainingStatus(
        now.generation(),
        (int) members.stream().map(Member::node).distinct().count(),
        Member.gpuType(members),
        members.size(),
        now.batchPlan(),
        replica.gradientStats(),
        replica.progress(),
        replica.learningRate());
  }
}
