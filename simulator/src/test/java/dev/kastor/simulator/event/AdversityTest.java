package dev.kastor.simulator.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.protocol.Progress;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.PolicyFactory;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.DeclaredWork;
import dev.kastor.simulator.replay.Replay;
import dev.kastor.traces.Application;
import dev.kastor.traces.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a scheduler does not know, or knows wrongly. */
final class AdversityTest {
  private static final Map<String, Application> APPLICATIONS =
      Map.of("linear", PlainApplication.linear(1000), "elastic", PlainApplication.elastic(20_000));

  private static final Adversity EXACT =
      new Adversity(DeclaredWork.EXACT, 0, ReportFaults.NONE, Stragglers.NONE);

  private static Workload four(String application) {
    List<Workload.Job> jobs = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      jobs.add(
          new Workload.Job(
              "job-" + i, 40 * i, application, 1, 4, 2, 0, Workload.Category.ADAPTIVE));
    }
    return new Workload("four", jobs);
  }

  private record Seen(Replay replay, List<Snapshot> snapshots) {
    /** Declared totals by job, of all that it ever declared. */
    Map<String, List<Double>> totals() {
      Map<String, List<Double>> totals = new TreeMap<>();
      for (Snapshot snapshot : snapshots) {
        for (JobState job : snapshot.jobs()) {
          job.progress()
              .map(Progress::totalScaleInvariantSteps)
              .ifPresent(total ->
                  totals.computeIfAbsent(job.id().name(), n -> new ArrayList<>()).add(total));
        }
      }
      totals.replaceAll((name, all) -> all.stream().distinct().toList());
      return totals;
    }

    /** Seconds from the start until a job has first got GPUs, and until a model is seen of it. */
    double firstModelSeconds() {
      return snapshots.stream()
          .filter(s -> s.jobs().stream().anyMatch(job -> job.model().isPresent()))
          .mapToDouble(s -> s.now().toEpochMilli() / 1000.0)
          .min()
          .orElseThrow();
    }
  }

  private static Seen replay(Adversity adversity, String policy, Workload workload, long seed) {
    return replay(EventSettings.defaults().withAdversity(adversity), policy, workload, seed);
  }

  private static Seen replay(EventSettings settings, String policy, Workload workload, long seed) {
    List<Snapshot> seen = new ArrayList<>();
    PolicyFactory watched =
        Policies.factory(policy, PolicyContext.online(seed)).map(Watched.first(seen));
    Replay replay =
        new EventSimulation(
                settings,
                ClusterShape.parse("2x4"),
                workload,
                APPLICATIONS,
                watched,
                seed,
                (seconds, done, all) -> {})
            .run();
    return new Seen(replay, seen);
  }

  private static Adversity declaring(DeclaredWork work) {
    return new Adversity(work, 0, ReportFaults.NONE, Stragglers.NONE);
  }

  private static Adversity reporting(double lost, int lateSeconds) {
    return new Adversity(
        DeclaredWork.EXACT,
        0,
        new ReportFaults(lost, Duration.ofSeconds(lateSeconds)),
        Stragglers.NONE);
  }

  @Tag("slow")
  @Test
  void declaredWorkIsWrongAndJobsEndAtTheTruth() {
    for (String policy : List.of("fifo", "pollux")) {
      Seen exact = replay(declaring(DeclaredWork.EXACT), policy, four("linear"), 3);
      Seen wrong = replay(declaring(DeclaredWork.parse("0.5")), policy, four("linear"), 3);
      Seen absent = replay(declaring(DeclaredWork.ABSENT), policy, four("linear"), 3);
      assertThat(exact.totals().values()).allMatch(totals -> totals.equals(List.of(1000.0)));
      assertThat(absent.totals().values()).allMatch(totals -> totals.equals(List.of(0.0)));
      // A job never changes what it declares, and jobs differ.
      assertThat(wrong.totals().values())
          .hasSize(4)
          .allMatch(totals -> totals.size() == 1)
          .allMatch(totals -> totals.getFirst() >= 500 && totals.getFirst() <= 1500)
          .doesNotHaveDuplicates();
      // Neither policy looks at what is left.
      assertThat(wrong.replay().jobs()).isEqualTo(exact.replay().jobs());
      assertThat(absent.replay().jobs()).isEqualTo(exact.replay().jobs());
    }
  }

  @Tag("slow")
  @Test
  void lateReportsTellOfModelsLater() {
    double prompt = replay(reporting(0, 0), "pollux", four("elastic"), 1).firstModelSeconds();
    Seen late = replay(reporting(0, 45), "pollux", four("elastic"), 1);
    assertThat(late.firstModelSeconds()).isCloseTo(prompt + 45, within(1.0));
    assertThat(late.replay().jobs()).hasSize(4);
  }

  @Tag("slow")
  @Test
  void progressThatIsKnownLateNeverRunsBack() {
    Seen late = replay(reporting(0.3, 50), "pollux", four("elastic"), 1);
    Map<String, Double> last = new TreeMap<>();
    for (Snapshot snapshot : late.snapshots()) {
      for (JobState job : snapshot.jobs()) {
        double steps = job.progress().map(Progress::scaleInvariantSteps).orElse(0.0);
        assertThat(steps).isGreaterThanOrEqualTo(last.getOrDefault(job.id().name(), 0.0));
        last.put(job.id().name(), steps);
      }
    }
    assertThat(last).hasSize(4);
  }

  @Tag("slow")
  @Test
  void lostReportsMakeNewsRarer() {
    Seen all = replay(reporting(0, 0), "pollux", four("elastic"), 1);
    Seen few = replay(reporting(0.9, 0), "pollux", four("elastic"), 1);
    assertThat(news(few)).isPositive().isLessThan(news(all) / 2);
  }

  @Tag("slow")
  @Test
  void whatALongSilenceLeavesFitsIntoAReport() {
    Workload one =
        new Workload(
            "one",
            List.of(new Workload.Job("a", 0, "linear", 1, 1, 1, 0, Workload.Category.ADAPTIVE)));
    // Some 3,300 reports, of which one in a hundred arrives: a report has room for 100 profiles.
    Replay replay =
        new EventSimulation(
                EventSettings.defaults().withAdversity(reporting(0.99, 0)),
                ClusterShape.parse("1x1"),
                one,
                Map.of("linear", PlainApplication.linear(100_000)),
                Policies.factory("pollux", PolicyContext.online(1)),
                1,
                (seconds, done, all) -> {})
            .run();
    assertThat(replay.jobs()).hasSize(1);
  }

  /** How often a snapshot shows a job further than the one before. */
  private static long news(Seen seen) {
    Map<String, Double> last = new TreeMap<>();
    long news = 0;
    for (Snapshot snapshot : seen.snapshots()) {
      for (JobState job : snapshot.jobs()) {
        double steps = job.progress().map(Progress::scaleInvariantSteps).orElse(0.0);
        Double before = last.put(job.id().name(), steps);
        news += steps > (before == null ? 0 : before) ? 1 : 0;
      }
    }
    return news;
  }

  @Test
  void aJobIsAsFastAsItsSlowestNode() {
    Workload one =
        new Workload(
            "one",
            List.of(new Workload.Job("a", 0, "linear", 1, 8, 8, 0, Workload.Category.ADAPTIVE)));
    Stragglers half = new Stragglers(0.5, 3);
    Adversity slow = new Adversity(DeclaredWork.EXACT, 0, ReportFaults.NONE, half);
    // Eight GPUs are both nodes, of which one is slow: all steps take three times as long.
    assertThat(replay(EXACT, "fifo", one, 1).replay().averageSeconds())
        .isCloseTo(30 + 125, within(1e-4));
    assertThat(replay(slow, "fifo", one, 1).replay().averageSeconds())
        .isCloseTo(30 + 375, within(1e-4));
  }

  @Test
  void soManyNodesAreSlowAndTheSeedSaysWhich() {
    double[] slow = new Stragglers(0.25, 2).slowdowns(40, 1);
    assertThat(Arrays.stream(slow).filter(s -> s == 2).count()).isEqualTo(10);
    assertThat(Arrays.stream(slow).filter(s -> s == 1).count()).isEqualTo(30);
    assertThat(new Stragglers(0.25, 2).slowdowns(40, 1)).isEqualTo(slow);
    assertThat(new Stragglers(0.25, 2).slowdowns(40, 2)).isNotEqualTo(slow);
    assertThat(Stragglers.NONE.slowdowns(3, 1)).containsOnly(1);
  }

  @Tag("slow")
  @Test
  @Tag("never-retried")
  void sameSeedSameAdversity() {
    Adversity all =
        new Adversity(
            DeclaredWork.parse("0.5"),
            0.1,
            new ReportFaults(0.2, Duration.ofSeconds(20)),
            new Stragglers(0.5, 1.5));
    Replay one = replay(all, "pollux", four("elastic"), 5).replay();
    assertThat(replay(all, "pollux", four("elastic"), 5).replay().jobs()).isEqualTo(one.jobs());
    assertThat(replay(all, "pollux", four("elastic"), 6).replay().jobs()).isNotEqualTo(one.jobs());
  }

  @Test
  void policiesSeeQueuesPrioritiesAndTimeSinceTheLastChange() {
    Map<String, Queue> queues = new LinkedHashMap<>(Map.of("night", new Queue("night", 0.5)));
    List<Workload.Job> jobs = new ArrayList<>();
    four("linear").jobs().forEach(job -> jobs.add(job.queued("night", 7)));
    Seen seen =
        replay(EventSettings.defaults().withQueues(queues), "fifo", new Workload("q", jobs), 1);
    boolean settled = false;
    for (Snapshot snapshot : seen.snapshots()) {
      assertThat(snapshot.queue("night").weight()).isEqualTo(0.5);
      for (JobState job : snapshot.jobs()) {
        assertThat(job.spec().queue()).isEqualTo("night");
        assertThat(job.spec().priority()).isEqualTo(7);
        assertThat(job.sinceChange()).isLessThanOrEqualTo(job.age());
        assertThat(job.sinceChange().isZero() || !job.allocation().isEmpty()).isTrue();
        settled |= job.sinceChange().toSeconds() >= 60;
      }
    }
    assertThat(settled).isTrue();
  }

  @Test
  void refusesWhatCannotBe() {
    assertThatThrownBy(() -> new ReportFaults(1, Duration.ZERO)).hasMessageContaining("below 1");
    assertThatThrownBy(() -> new ReportFaults(0, Duration.ofSeconds(-1)))
        .hasMessageContaining("cannot come early");
    assertThatThrownBy(() -> new Stragglers(1.5, 2)).hasMessageContaining("between 0 and 1");
    assertThatThrownBy(() -> new Stragglers(0.5, 0.5)).hasMessageContaining("at least 1 times");
    assertThatThrownBy(() -> EventSettings.defaults().withTimingNoise(0.5))
        .hasMessageContaining("timingNoise");
  }
}
