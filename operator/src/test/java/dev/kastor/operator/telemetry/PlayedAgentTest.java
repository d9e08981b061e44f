package dev.kastor.operator.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.GoodputSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.operator.TestJobs;
import dev.kastor.operator.mapping.JobMapper;
import dev.kastor.operator.mapping.JobSpecs;
import dev.kastor.operator.membership.BetterBatch;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Progress;
import dev.kastor.protocol.StepProfile;
import dev.kastor.protocol.Switch;
import dev.kastor.protocol.TelemetryReport;
import dev.kastor.scheduler.estimate.GoodputEstimator;
import dev.kastor.scheduler.estimate.Learner;
import dev.kastor.scheduler.goodput.PlacementShape;
import dev.kastor.scheduler.goodput.ThroughputParams;
import dev.kastor.scheduler.loop.Cluster;
import dev.kastor.scheduler.loop.SchedulingLoop;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Learning;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Change;
import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.scheduler.speed.NodeSpeeds;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * An honest job and a lying one of the same true physics on eight slots, for ten minutes of virtual
 * time, under the loop and the policy that the operator runs and through its own telemetry.
 */
final class PlayedAgentTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final int SLOTS = 8;
  private static final int SECONDS = 600;
  private static final int ROUND_SECONDS = 5;
  private static final int PAUSE_SECONDS = 2;
  private static final int INITIAL = 32;
  private static final int BATCH_SECONDS = 30;
  private static final double WORK = 200_000;

  private static final ThroughputParams TRUTH =
      new ThroughputParams(0.02, 0.002, 0.1, 0.02, 0.03, 0.004, 1.5);

  /** As {@link #TRUTH}, with synchronisation that takes no time. */
  private static final ThroughputParams PERFECT =
      new ThroughputParams(0.02, 0.002, 0, 0, 0, 0, 1.5);

  private static final GradientStats NOISE = new GradientStats(1, 40, INITIAL);

  /** Report of a job's rank 0, to be changed by a liar. */
  private static final class Words {
    int replicas;
    int second;
    double stepSeconds;
    double syncSeconds;
    double noise = 40;
    double done;
    double total = WORK;
    long step;
    double pause = PAUSE_SECONDS;
    int atomic;
    int profiledReplicas;
    int steps = 10;
  }

  /** Change that a job makes to its true report. */
  private interface Lie {
    void tell(Words words);
  }

  /**
   * A liar's strategy.
   *
   * @param played physics of the job that it is held against: the honest one beside it, or one that
   *     is what the liar claims to be, alone with the same neighbour
   */
  private record Strategy(String name, int headStart, ThroughputParams played, Lie lie) {}

  private static final List<Strategy> STRATEGIES =
      List.of(
          bounded("honest", words -> {}),
          bounded("perfect scaling", PlayedAgentTest::perfect),
          bounded("perfect scaling, sizes it never had", PlayedAgentTest::neverHad),
          bounded(
              "perfect scaling and huge noise",
              words -> {
                perfect(words);
                words.noise = 1e12;
              }),
          bounded("pause of 1e9 s", words -> words.pause = 1e9),
          bounded("pause of 60 s", words -> words.pause = 60),
          bounded("almost done", words -> words.done = 0.9999 * WORK),
          bounded("done, and goes on", words -> words.done = WORK),
          bounded(
              "almost done, fast",
              words -> {
                words.stepSeconds /= 1e6;
                words.syncSeconds /= 1e6;
                words.done = 0.9999 * WORK;
              }),
          bounded("never gets further", words -> words.done = 0),
          bounded(
              "little work that never ends",
              words -> {
                words.total = 50;
                words.done = 0;
              }),
          bounded(
              "little work, slower and slower",
              words -> {
                words.total = 2000;
                words.done = 2000 * (1 - Math.exp(-words.second / 120.0));
              }),
          bounded(
              "slow, then fast",
              words -> {
                double times = words.second < 120 ? 10 : 0.5;
                words.stepSeconds *= times;
                words.syncSeconds *= times;
              }),
          bounded(
              "tiny steps",
              words -> {
                words.stepSeconds = 1e-9;
                words.syncSeconds = 0;
              }),
          bounded(
              "steps of a day",
              words -> {
                words.stepSeconds = 86_400;
                words.syncSeconds = 0;
              }),
          bounded("other batches", words -> words.atomic *= 1000),
          bounded(
              "half of the truth alone",
              words -> {
                if (words.replicas == 1) {
                  words.stepSeconds *= 3;
                }
              }),
          bounded(
              "extremes by turns",
              words -> {
                words.noise = words.second % 2 == 0 ? 0 : Double.POSITIVE_INFINITY;
                words.stepSeconds = words.second % 3 == 0 ? 1e-9 : 1e9;
                words.syncSeconds = 0;
                words.done = words.second % 2 == 0 ? 0 : WORK;
              }),
          bounded("other totals by turns", words -> words.total = words.second % 2 == 0 ? 1 : 1e12),
          bounded("no reports", words -> words.steps = 0),
          new Strategy("there first, pause of 1e9 s", 60, TRUTH, words -> words.pause = 1e9),
          new Strategy("there first, honest", 60, TRUTH, words -> {}),
          new Strategy("there first, almost done", 60, TRUTH, words -> words.done = 0.99999 * WORK),
          new Strategy("there first, perfect", 60, TRUTH, PlayedAgentTest::perfect),
          bounded("huge noise", words -> words.noise = 1e12),
          // Nothing that the operator sees tells it from a job that scales so well, before its end.
          new Strategy(
              "perfect scaling, progress to match",
              0,
              PERFECT,
              words -> {
                double before = words.stepSeconds;
                perfect(words);
                words.done *= before / words.stepSeconds;
              }));

  private static Strategy bounded(String name, Lie lie) {
    return new Strategy(name, 0, TRUTH, lie);
  }

  private static void perfect(Words words) {
    words.stepSeconds = TRUTH.computeSeconds(words.atomic);
    words.syncSeconds = 0;
  }

  private static void neverHad(Words words) {
    perfect(words);
    words.profiledReplicas = SLOTS;
  }

  @Tag("slow")
  @Test
  void noLieGainsMoreThanATenth() {
    StringBuilder table =
        new StringBuilder("%-40s %8s %8s %6s%n".formatted("", "liar", "honest", ""));
    List<String> broken = new ArrayList<>();
    for (Strategy strategy : STRATEGIES) {
      Scene scene = new Scene(strategy, TRUTH, strategy.lie());
      scene.play();
      double honest = scene.honest.held;
      if (!strategy.played().equals(TRUTH)) {
        Scene as = new Scene(strategy, strategy.played(), words -> {});
        as.play();
        honest = as.liar.held;
      }
      double ratio = scene.liar.held / Math.max(1, honest);
      String line =
          "%-40s %8.0f %8.0f %6.2f %s%n"
              .formatted(strategy.name(), scene.liar.held, honest, ratio, scene.liar.said());
      table.append(line);
      if (ratio > 1.10) {
        broken.add(line);
      }
    }
    System.out.print(table);
    assertThat(broken).as("GPU-seconds of the liar and of the honest one%n%s", table).isEmpty();
  }

  /** A job as it is played. */
  private static final class Player {
    final TrainingJob job;
    final JobSpec spec;
    final JobTelemetry telemetry;
    final ThroughputParams truth;
    final Lie lie;
    Allocation allocation = Allocation.NONE;
    Instant since = START;
    BatchPlan batch = new BatchPlan(INITIAL, 0);
    long generation;
    int pausing;
    int batchAge;
    double done;
    double examples;
    double steps;
    double held;
    long sequence;
    int before;
    final int arrives;

    Player(String name, ThroughputParams truth, Lie lie, int arrives) {
      job = TestJobs.job(name, 1, SLOTS, GoodputSpec.Mode.Adaptive);
      spec = JobSpecs.of(job);
      var estimator = new GoodputEstimator(spec, GoodputEstimator.Merging.NEWEST, Learning.FULL);
      telemetry =
          new JobTelemetry(
              job,
              new Learner(spec, estimator, Optional.empty()),
              TestJobs.steps(job, new NodeSpeeds()),
              START);
      this.truth = truth;
      this.lie = lie;
      this.arrives = arrives;
    }

    String said() {
      return telemetry.parted(START.plusSeconds(SECONDS)).orElse("");
    }

    JobState state(Instant now) {
      AllocationStatus status =
          allocation.isEmpty()
              ? null
              : new AllocationStatus(
                  allocation.replicas(),
                  allocation.replicasByNode(),
                  null,
                  generation,
                  since.toString(),
                  "",
                  "",
                  null,
                  null);
      return JobMapper.state(job, status, telemetry.measured(now), true, false, now);
    }

    void become(Allocation now, Instant at) {
      before = allocation.replicas();
      allocation = now;
      since = at;
      if (now.isEmpty()) {
        return;
      }
      int global = before == 0 ? 0 : batch.globalBatchSize(before);
      batch = BetterBatch.initial(spec, telemetry.model(at), shape(), global);
      begin(at);
    }

    private void begin(Instant at) {
      generation++;
      batchAge = 0;
      pausing = PAUSE_SECONDS;
      telemetry.published(
          generation,
          new SeenBounds.Published(
              1, allocation.replicas(), "", Optional.of(at), Optional.of(since)),
          List.copyOf(allocation.replicasByNode().keySet()));
    }

    private PlacementShape shape() {
      return new PlacementShape(1, allocation.replicas(), "");
    }

    void second(int second, Instant now) {
      int replicas = allocation.replicas();
      held += second >= arrives && second >= counted ? replicas : 0;
      if (replicas == 0) {
        return;
      }
      if (pausing > 0) {
        pausing--;
        return;
      }
      double seconds = truth.stepSeconds(shape(), batch);
      int global = batch.globalBatchSize(replicas);
      steps += 1 / seconds;
      done += NOISE.gain(global) / seconds;
      examples += global / seconds;
      report(second, now);
      if (++batchAge > BATCH_SECONDS) {
        batchAge = 0;
        BetterBatch.improvement(spec, telemetry.model(now), shape(), batch)
            .ifPresent(better -> {
              batch = better;
              before = replicas;
              begin(now);
            });
      }
    }

    int counted;

    private void report(int second, Instant now) {
      Words words = new Words();
      words.replicas = allocation.replicas();
      words.profiledReplicas = words.replicas;
      words.second = second;
      words.atomic = batch.atomicBatchSize();
      words.stepSeconds = truth.updateSeconds(shape(), words.atomic);
      words.syncSeconds = Math.max(0, words.stepSeconds - truth.computeSeconds(words.atomic));
      words.done = done;
      words.step = (long) steps;
      lie.tell(words);
      if (words.steps == 0) {
        return;
      }
      double noise = Math.min(1e70, words.noise);
      var profile =
          new StepProfile(
              1,
              words.profiledReplicas,
              words.atomic,
              words.steps,
              words.stepSeconds,
              words.syncSeconds);
      telemetry.accept(
          new TelemetryReport(
              "team",
              job.getMetadata().getName(),
              job.getMetadata().getName() + "-0",
              generation,
              ++sequence,
              words.replicas,
              batch,
              List.of(profile),
              new GradientStats(Double.isInfinite(words.noise) ? 0 : 1, noise, INITIAL),
              new Progress(
                  words.step, Math.min(words.done, words.total), words.total, (long) examples, 0),
              1.0,
              0.1,
              null,
              List.of(
                  new Switch(
                      generation, before, words.replicas, Switch.Cause.RESCALE, words.pause)),
              null),
          now);
    }
  }

  /** The two of them and the cluster. */
  private static final class Scene implements Cluster {
    private final List<Node> nodes = List.of(new Node("n1", "", SLOTS));
    private final Player honest;
    private final Player liar;
    private final SchedulingLoop loop =
        new SchedulingLoop(this, Policies.create("kastor", PolicyContext.online(1)));
    private Instant now = START;
    private int second;

    Scene(Strategy strategy, ThroughputParams truth, Lie lie) {
      honest = new Player("honest", TRUTH, words -> {}, strategy.headStart());
      liar = new Player("liar", truth, lie, 0);
      liar.counted = strategy.headStart();
    }

    void play() {
      int end = SECONDS + honest.arrives;
      for (second = 0; second < end; second++) {
        now = START.plusSeconds(second);
        if (second % ROUND_SECONDS == 0) {
          var round = loop.tick();
          assertThat(round.violations()).isEmpty();
        }
        honest.second(second, now);
        liar.second(second, now);
      }
    }

    @Override
    public Snapshot observe() {
      List<JobState> jobs = new ArrayList<>();
      for (Player player : List.of(honest, liar)) {
        if (second >= player.arrives) {
          jobs.add(player.state(now));
        }
      }
      return new Snapshot(now, nodes, jobs);
    }

    @Override
    public void apply(List<Change> changes) {
      for (Change change : changes) {
        (change.job().equals(honest.spec.id()) ? honest : liar).become(change.to(), now);
      }
    }
  }
}
