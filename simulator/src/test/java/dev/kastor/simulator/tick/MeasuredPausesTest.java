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
import dev.kastor.testkit.PublishedTraces;
import dev.kastor.traces.Application;
import dev.kastor.traces.Workload;
import dev.kastor.traces.format.TraceFormats;
import dev.kastor.traces.measured.SiaApplications;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Pauses that policies are told of, in a replay in rounds. */
@Tag("slow")
final class MeasuredPausesTest {
  /** Of cifar10, in Sia's artifact. */
  private static final Duration PUBLISHED = Duration.ofSeconds(30);

  private static final Duration TRUE = Duration.ofSeconds(50);

  private static Map<String, Application> applications = Map.of();
  private static Workload workload = new Workload("none", List.of());

  /** Sia's policy; keeps the first and the last pause that it is told of each job. */
  private static final class Watched implements Policy {
    private final PolicyFactory factory;
    private final Policy sia;
    private final Map<String, Duration> first = new HashMap<>();
    private final Map<String, Duration> last = new HashMap<>();

    Watched(Learning learning, boolean memory) {
      PolicyFactory published = Policies.factory("sia", PolicyContext.published(1));
      sia = published.create();
      factory = new PolicyFactory("sia", published.traits().withLearning(learning), () -> this);
      new TickSimulation(
              TickSettings.of(Mode.SIA).withFamilyMemory(memory),
              ClusterShape.parse("aws=6x4,dgx-ext=2x8,rtx=3x8"),
              workload,
              applications,
              factory,
              1,
              (seconds, done, all) -> {})
          .run();
    }

    @Override
    public Plan plan(Snapshot snapshot) {
      for (JobState job : snapshot.jobs()) {
        if (job.spec().family().equals("cifar10")) {
          first.putIfAbsent(job.id().name(), job.restartCost());
          last.put(job.id().name(), job.restartCost());
        }
      }
      return sia.plan(snapshot);
    }
  }

  @BeforeAll
  static void read() throws Exception {
    applications = SiaApplications.read(PublishedTraces.path("sia/profiles"));
    Workload all =
        TraceFormats.read(
            PublishedTraces.path("sia/workloads/philly/workload-1.csv"), applications.keySet());
    workload = new Workload(all.name(), all.jobs().subList(0, 16));
  }

  @Test
  void isAsPublishedUntilTheJobMeasuredIt() {
    Watched alone = new Watched(Learning.FULL, false);
    assertThat(alone.first.values()).hasSizeGreaterThan(8).containsOnly(PUBLISHED);
    assertThat(alone.last.values()).containsOnly(TRUE);
  }

  @Test
  void isWhatTheFamilyMeasured() {
    Watched remembers = new Watched(Learning.FULL, true);
    assertThat(remembers.first.values()).contains(PUBLISHED, TRUE);
    assertThat(remembers.last.values()).containsOnly(TRUE);
  }

  @Test
  void isAsPublishedForPublishedPolicies() {
    Watched faithful = new Watched(Learning.FAITHFUL, true);
    assertThat(faithful.last.values()).hasSizeGreaterThan(8).containsOnly(PUBLISHED);
  }
}
