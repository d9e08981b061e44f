package dev.kastor.simulator.bound;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.testkit.PublishedTraces;
import dev.kastor.traces.Application;
import dev.kastor.traces.Workload;
import dev.kastor.traces.format.TraceFormats;
import dev.kastor.traces.profile.Applications;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Bounds of the workloads of Pollux (OSDI 2021, artifact) as another program computed them from the
 * same measurements, in NumPy and with slots of two minutes.
 */
@Tag("slow")
final class PublishedBoundTest {
  @Test
  void isWhatAnotherProgramComputes() throws Exception {
    isNear(3, 1284);
  }

  @Test
  @Tag("nightly")
  void isWhatAnotherProgramComputesForTheWorkloadThatTakesLonger() throws Exception {
    isNear(1, 1204);
  }

  private static void isNear(int number, double seconds) throws Exception {
    Map<String, Application> applications =
        Applications.read(PublishedTraces.path("pollux/applications"));
    Workload workload =
        TraceFormats.read(
            PublishedTraces.path("pollux/workloads/workload-%d.csv".formatted(number)),
            applications.keySet());
    LowerBound bound =
        LowerBound.of(
            ClusterShape.parse("16x4"),
            workload,
            applications,
            Duration.ofMinutes(2),
            LowerBound.ENOUGH_STEPS,
            _ -> {});
    assertThat(bound.meanSeconds()).isCloseTo(seconds, withinPercentage(1));
    assertThat(bound.stillRising()).isLessThan(0.01);
  }
}
