package dev.kastor.simulator.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.Replay;
import dev.kastor.traces.Application;
import dev.kastor.traces.TraceException;
import dev.kastor.traces.Workload;
import dev.kastor.traces.format.TraceFormats;
import dev.kastor.traces.profile.Applications;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Jobs that take whole nodes among small ones: the shipped workload {@code gangs-200}. */
final class GangsTest {
  private static final Path TRACES =
      Path.of(System.getProperty("kastor.root", "..")).resolve("traces");

  private static Replay replay(String cluster, String policy) throws TraceException {
    Map<String, Application> applications =
        Applications.read(TRACES.resolve("profiles/kastor.csv"));
    Workload workload =
        TraceFormats.read(TRACES.resolve("workloads/gangs-200.csv"), applications.keySet());
    return new EventSimulation(
            EventSettings.defaults(),
            ClusterShape.parse(cluster),
            workload,
            applications,
            Policies.factory(policy, PolicyContext.online(1)),
            1,
            (seconds, done, all) -> {})
        .run();
  }

  @Tag("slow")
  @Test
  void wholeNodesAreFoundNearlyAsIfNodesHadNoBounds() throws TraceException {
    Replay usual = replay("8x8", "kastor");
    Replay still = replay("8x8", "kastor:movesPerNode=0");
    Replay oneNode = replay("1x64", "kastor");
    assertThat(usual.moves()).isPositive().isGreaterThan(still.moves());
    assertThat(oneNode.moves()).isZero();
    assertThat(usual.averageSeconds()).isLessThan(1.02 * oneNode.averageSeconds());
    assertThat(still.averageSeconds()).isGreaterThan(1.02 * usual.averageSeconds());
  }
}
