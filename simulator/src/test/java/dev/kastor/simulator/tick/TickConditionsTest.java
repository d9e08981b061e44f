package dev.kastor.simulator.tick;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.protocol.Progress;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.Policy;
import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.DeclaredWork;
import dev.kastor.simulator.replay.Mode;
import dev.kastor.simulator.replay.Replay;
import dev.kastor.traces.Application;
import dev.kastor.traces.TraceException;
import dev.kastor.traces.Workload;
import dev.kastor.traces.format.TraceFormats;
import dev.kastor.traces.profile.Applications;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What jobs declare, and how policies see it, in the modes of the published simulators. */
final class TickConditionsTest {
  private static final Path TRACES =
      Path.of(System.getProperty("kastor.root", "..")).resolve("traces");

  private record Watched(Policy policy, List<Snapshot> seen) implements Policy {
    @Override
    public Plan plan(Snapshot snapshot) {
      seen.add(snapshot);
      return policy.plan(snapshot);
    }
  }

  private static Replay replay(TickSettings settings, List<Snapshot> seen) throws TraceException {
    Map<String, Application> applications =
        Applications.read(TRACES.resolve("profiles/kastor.csv"));
    Workload workload =
        TraceFormats.read(TRACES.resolve("workloads/burst-8.csv"), applications.keySet());
    List<Workload.Job> queued = new ArrayList<>();
    workload.jobs().forEach(job -> queued.add(job.queued("night", 2)));
    return new TickSimulation(
            settings,
            ClusterShape.parse("4x4"),
            new Workload("queued", queued),
            applications,
            Policies.factory("tiresias", PolicyContext.published(1))
                .map(policy -> new Watched(policy, seen)),
            1,
            (seconds, done, all) -> {})
        .run();
  }

  private static SortedSet<Double> totals(List<Snapshot> seen) {
    SortedSet<Double> totals = new TreeSet<>();
    for (Snapshot snapshot : seen) {
      for (JobState job : snapshot.jobs()) {
        totals.add(job.progress().map(Progress::totalScaleInvariantSteps).orElse(0.0));
      }
    }
    return totals;
  }

  @Tag("slow")
  @Test
  void declaredWorkIsWrongAndJobsEndAtTheTruth() throws TraceException {
    TickSettings exact = TickSettings.of(Mode.POLLUX);
    List<Snapshot> truth = new ArrayList<>();
    List<Snapshot> wrong = new ArrayList<>();
    List<Snapshot> absent = new ArrayList<>();
    Replay replay = replay(exact, truth);
    assertThat(replay(exact.withDeclaredWork(DeclaredWork.parse("0.5")), wrong).jobs())
        .isEqualTo(replay.jobs());
    assertThat(replay(exact.withDeclaredWork(DeclaredWork.ABSENT), absent).jobs())
        .isEqualTo(replay.jobs());
    assertThat(totals(absent)).containsExactly(0.0);
    assertThat(totals(truth).first()).isPositive();
    // Eight jobs of fewer applications: each declares its own total.
    assertThat(totals(wrong)).hasSize(8);
    assertThat(totals(wrong)).doesNotContainAnyElementsOf(totals(truth));
  }

  @Tag("slow")
  @Test
  void policiesSeeQueuesAndTimeSinceTheLastChange() throws TraceException {
    List<Snapshot> seen = new ArrayList<>();
    replay(TickSettings.of(Mode.POLLUX).withQueues(Map.of("night", new Queue("night", 0.5))), seen);
    assertThat(seen).allMatch(snapshot -> snapshot.queue("night").weight() == 0.5);
    assertThat(seen)
        .allMatch(s -> s.jobs().stream().allMatch(job -> job.spec().priority() == 2))
        .anyMatch(s ->
            s.jobs().stream()
                .anyMatch(
                    job -> job.sinceChange().toSeconds() == 60 && !job.allocation().isEmpty()));
  }
}
