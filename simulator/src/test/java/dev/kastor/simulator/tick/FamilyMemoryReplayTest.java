package dev.kastor.simulator.tick;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Learning;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.Policy;
import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.PolicyFactory;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.Mode;
import dev.kastor.simulator.replay.Replay;
import dev.kastor.testkit.PublishedTraces;
import dev.kastor.traces.Application;
import dev.kastor.traces.Workload;
import dev.kastor.traces.format.TraceFormats;
import dev.kastor.traces.measured.PolluxApplications;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What jobs of one family tell each other in a replay in rounds. */
@Tag("slow")
final class FamilyMemoryReplayTest {
  private static Map<String, Application> applications = Map.of();
  private static Workload workload = new Workload("none", List.of());

  /** Pollux's policy; counts jobs that have a model before they ever ran. */
  private static final class Watched implements Policy {
    private final PolicyFactory factory;
    private final Policy pollux;
    private final Set<String> known = new HashSet<>();
    private final Set<String> foreseen = new HashSet<>();
    private double leastConfidence = 1;

    Watched(Learning learning) {
      PolicyFactory published = Policies.factory("pollux", PolicyContext.online(1));
      pollux = published.create();
      factory = new PolicyFactory("pollux", published.traits().withLearning(learning), () -> this);
    }

    @Override
    public Plan plan(Snapshot snapshot) {
      for (JobState job : snapshot.jobs()) {
        if (job.attainedService() == 0 && job.model().isPresent()) {
          known.add(job.id().name());
        }
        if (job.outlook().noise().isPresent()) {
          foreseen.add(job.id().name());
          leastConfidence = Math.min(leastConfidence, job.outlook().confidence());
        }
      }
      return pollux.plan(snapshot);
    }
  }

  @BeforeAll
  static void read() throws Exception {
    applications = PolluxApplications.read(PublishedTraces.path("pollux/applications"));
    Workload all =
        TraceFormats.read(
            PublishedTraces.path("pollux/workloads/workload-1.csv"), applications.keySet());
    workload = new Workload(all.name(), all.jobs().subList(0, 60));
  }

  private static Replay replay(Watched policy, boolean memory) {
    return new TickSimulation(
            TickSettings.of(Mode.POLLUX).withFamilyMemory(memory),
            ClusterShape.parse("16x4"),
            workload,
            applications,
            policy.factory,
            1,
            (seconds, done, all) -> {})
        .run();
  }

  @Test
  void jobsOfASeenFamilyBeginWithItsModel() {
    Watched remembers = new Watched(Learning.FULL);
    Replay with = replay(remembers, true);
    assertThat(remembers.known.size()).isGreaterThan(40);
    assertThat(remembers.foreseen.size()).isGreaterThanOrEqualTo(remembers.known.size());
    assertThat(remembers.leastConfidence).isGreaterThan(0.45);
    Watched forgets = new Watched(Learning.FULL);
    Replay without = replay(forgets, false);
    assertThat(forgets.known).isEmpty();
    assertThat(with.averageSeconds()).isLessThan(without.averageSeconds());
  }

  @Test
  void publishedPoliciesAreNeverTold() {
    Watched faithful = new Watched(Learning.FAITHFUL);
    Replay asked = replay(faithful, true);
    assertThat(faithful.known).isEmpty();
    assertThat(faithful.foreseen).isEmpty();
    assertThat(asked.jobs()).isEqualTo(replay(new Watched(Learning.FAITHFUL), false).jobs());
  }
}
