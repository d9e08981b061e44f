package dev.kastor.operator.hang;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.hang.HangRule.Hang;
import dev.kastor.operator.hang.HangRule.Seen;
import dev.kastor.operator.kube.ApiBackoff;
import dev.kastor.operator.kube.JobRecords;
import dev.kastor.operator.kube.JobServers;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.leader.Awake;
import dev.kastor.operator.membership.MembershipService;
import dev.kastor.operator.membership.Replica;
import dev.kastor.operator.signal.Signals;
import dev.kastor.operator.telemetry.Reported;
import dev.kastor.operator.telemetry.TelemetryStore;
import dev.kastor.protocol.ReplicaState;
import dev.kastor.protocol.Slowest;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watch for jobs that make no steps, and for replicas that slow the others down. Looks from one
 * thread; any thread may ask what was seen.
 */
@Singleton
public final class HangWatch {
  private static final Logger LOG = LoggerFactory.getLogger(HangWatch.class);

  /** Members that have not spoken for longer say nothing of what they do now. */
  private static final Duration LATELY = Duration.ofSeconds(15);

  private static final Duration INTERVAL = Duration.ofSeconds(2);
  private static final Duration BETWEEN_REPLACEMENTS = Duration.ofHours(1);

  private static final class Watched {
    final HangRule hang;
    final SlowRule slow;
    Instant looked = Instant.MIN;
    Instant replaced = Instant.MIN;
    volatile @Nullable String message;

    Watched(OperatorConfig.Hang config) {
      hang = new HangRule(config.timeout(), config.busyTimeout(), config.steps());
      slow = new SlowRule(config.slowdown(), config.slowFor());
    }
  }

  private final MembershipService membership;
  private final TelemetryStore telemetry;
  private final HangRemedy remedy;
  private final ApiBackoff api;
  private final Awake awake;
  private final Signals signals;
  private final OperatorConfig.Hang config;
  private final InstantSource clock;
  private final Map<String, Watched> jobs;

  public HangWatch(
      JobRecords records,
      MembershipService membership,
      TelemetryStore telemetry,
      HangRemedy remedy,
      ApiBackoff api,
      Awake awake,
      Signals signals,
      OperatorConfig config,
      InstantSource clock) {
    jobs = records.part();
    this.membership = membership;
    this.telemetry = telemetry;
    this.remedy = remedy;
    this.api = api;
    this.awake = awake;
    this.signals = signals;
    this.config = config.hang();
    this.clock = clock;
  }

  /** Looks at a job that holds GPUs, if it is time to. */
  public void lookIfDue(TrainingJob job) {
    Instant now = clock.instant();
    Watched watched = jobs.computeIfAbsent(job.getMetadata().getUid(), uid -> new Watched(config));
    if (now.isBefore(watched.looked.plus(INTERVAL))) {
      return;
    }
    watched.looked = now;
    MembershipService.Members members = membership.members(job);
    if (config.timeout().isPositive()) {
      lookForHang(job, watched, members, now);
    }
    if (config.slowFor().isPositive()) {
      Optional<Slowest> slowest =
          telemetry
              .slowest(job)
              // A step that does not need all workers waits for none.
              .filter(slow -> JobServers.of(job).filter(servers -> !servers.inStep()).isEmpty())
              .filter(slow -> members.pods().contains(slow.pod()) && !justWoke(now));
      watched.slow.look(slowest, now).ifPresent(slow -> tell(job, watched, slow, now));
    }
  }

  /** What a person should know of a job that hangs; empty if it gets on. */
  public Optional<String> hanging(TrainingJob job) {
    Watched watched = jobs.get(job.getMetadata().getUid());
    return watched == null ? Optional.empty() : Optional.ofNullable(watched.message);
  }

  /** Forgets a job that holds nothing. */
  public void forget(String uid) {
    jobs.remove(uid);
  }

  private void lookForHang(
      TrainingJob job, Watched watched, MembershipService.Members members, Instant now) {
    // A server that stands still makes all its workers wait, so it may be the one to replace.
    List<Seen> seen =
        Stream.concat(members.said().entrySet().stream(), members.servers().entrySet().stream())
            .map(entry -> seen(entry.getKey(), entry.getValue().state()))
            .toList();
    boolean allSpeak =
        members.said().size() == members.pods().size()
            && Stream.concat(members.said().values().stream(), members.servers().values().stream())
                .allMatch(replica -> speaks(replica, now));
    Optional<Reported> last = telemetry.last(job);
    boolean trained = last.filter(report -> report.progress().fraction() >= 1).isPresent();
    boolean done = telemetry.completed(job).isPresent();
    // What nobody could tell us in an outage, or while we stood still, is not a hang.
    boolean outage = now.isBefore(api.lastTrouble().plus(LATELY)) || justWoke(now);
    long step =
        Math.max(
            last.map(report -> report.progress().step()).orElse(-1L),
            seen.stream().mapToLong(Seen::step).max().orElse(-1));
    Optional<Hang> hang =
        watched.hang.look(
            members.generation(),
            allSpeak && !done && !outage ? seen : List.of(),
            step,
            trained,
            () -> telemetry.usualStepSeconds(job),
            now);
    if (hang.isPresent()) {
      // First: who looks because of what follows is to find it.
      watched.message = HangRemedy.message(seen, hang.get());
      remedy.replace(job, hang.get(), watched.message);
      signals.job(Labels.id(job));
    }
    if (watched.message != null && !watched.hang.hanging()) {
      watched.message = null;
      LOG.info("{}: gets on again", Labels.id(job));
      signals.job(Labels.id(job));
    }
  }

  private void tell(TrainingJob job, Watched watched, Slowest slow, Instant now) {
    boolean replace =
        config.replaceSlow() && !now.isBefore(watched.replaced.plus(BETWEEN_REPLACEMENTS));
    if (replace) {
      watched.replaced = now;
    }
    remedy.tell(job, slow, config.slowFor(), replace);
  }

  private static Seen seen(String pod, ReplicaState state) {
    return new Seen(pod, state.step(), state.waiting(), state.doing());
  }

  private boolean justWoke(Instant now) {
    return now.isBefore(awake.since().plus(LATELY));
  }

  private static boolean speaks(Replica replica, Instant now) {
    return replica.state().phase() == ReplicaState.Phase.TRAINING
        && now.isBefore(replica.seen().plus(LATELY));
  }
}
