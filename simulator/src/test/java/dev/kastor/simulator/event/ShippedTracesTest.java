package dev.kastor.simulator.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.Mode;
import dev.kastor.simulator.replay.Replay;
import dev.kastor.simulator.tick.TickSettings;
import dev.kastor.simulator.tick.TickSimulation;
import dev.kastor.testkit.PublishedTraces;
import dev.kastor.traces.Application;
import dev.kastor.traces.TraceException;
import dev.kastor.traces.Workload;
import dev.kastor.traces.format.TraceFormats;
import dev.kastor.traces.profile.Applications;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Laws on real workloads: those that Kastor ships and, where they are, the published ones. */
final class ShippedTracesTest {
  private static final Path TRACES =
      Path.of(System.getProperty("kastor.root", "..")).resolve("traces");

  private static Replay replay(EventSettings settings, String name, String policy)
      throws TraceException {
    Map<String, Application> applications =
        Applications.read(TRACES.resolve("profiles/kastor.csv"));
    return replay(
        settings,
        "4x4",
        TraceFormats.read(TRACES.resolve("workloads/" + name + ".csv"), applications.keySet()),
        applications,
        policy);
  }

  private static Replay replay(
      EventSettings settings,
      String cluster,
      Workload workload,
      Map<String, Application> applications,
      String policy) {
    return new EventSimulation(
            settings,
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
  void sizesThatAdaptBeatStaticOnes() throws TraceException {
    Replay fifo = replay(EventSettings.defaults(), "mixed-40", "fifo");
    Replay pollux = replay(EventSettings.defaults(), "mixed-40", "pollux");
    assertThat(pollux.averageSeconds()).isLessThan(fifo.averageSeconds());
  }

  @Tag("slow")
  @Test
  void knowingTheFutureBeatsOrderOfArrival() throws TraceException {
    Replay fifo = replay(EventSettings.defaults(), "mixed-40", "fifo");
    Replay srtf = replay(EventSettings.defaults(), "mixed-40", "srtf");
    assertThat(srtf.averageSeconds()).isLessThan(fifo.averageSeconds());
  }

  @Tag("slow")
  @Test
  void dearRescalingIsUsedLess() throws TraceException {
    EventSettings dear =
        EventSettings.defaults().withLiveRescale(LiveRescale.withoutStart(Duration.ofMinutes(5)));
    assertThat(replay(dear, "burst-8", "pollux").restarts())
        .isLessThan(replay(EventSettings.defaults(), "burst-8", "pollux").restarts());
  }

  /** With rounds of a minute and the artifact's cost of any change, only the instants differ. */
  @Tag("slow")
  @ParameterizedTest
  @ValueSource(strings = {"fifo", "tiresias", "optimus"})
  void isNearTheTickByTickReplayUnderItsRules(String policy) throws Exception {
    Map<String, Application> applications =
        Applications.read(PublishedTraces.path("pollux/applications"));
    Workload workload =
        TraceFormats.read(
            PublishedTraces.path("pollux/workloads/workload-1.csv"), applications.keySet());
    Replay ticks =
        new TickSimulation(
                TickSettings.of(Mode.POLLUX),
                ClusterShape.parse("16x4"),
                workload,
                applications,
                Policies.factory(policy, PolicyContext.published(1)),
                1,
                (seconds, done, all) -> {})
            .run();
    Replay events =
        replay(
            EventSettings.defaults()
                .withDecisions(Duration.ofSeconds(60), Duration.ofSeconds(60))
                .withLiveRescale(LiveRescale.withoutStart(Duration.ofSeconds(30))),
            "16x4",
            workload,
            applications,
            policy);
    assertThat(events.averageSeconds()).isCloseTo(ticks.averageSeconds(), withinPercentage(5));
  }
}
