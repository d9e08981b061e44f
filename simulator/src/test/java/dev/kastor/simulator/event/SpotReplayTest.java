package dev.kastor.simulator.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.PolicyFactory;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.simulator.replay.ClusterShape;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Nodes that cost money, half of them cheaper ones that may be taken away. */
final class SpotReplayTest {
  private static final String HALF_SPOT = "2x4:price=12,2x4:price=4:spot";
  private static final Path TRACES =
      Path.of(System.getProperty("kastor.root", "..")).resolve("traces");

  private static Replay shipped(
      String name, String cluster, String kastor, double perDay, long seed) throws TraceException {
    Map<String, Application> applications =
        Applications.read(TRACES.resolve("profiles/kastor.csv"));
    Workload workload =
        TraceFormats.read(TRACES.resolve("workloads/" + name), applications.keySet());
    PolicyFactory policy = Policies.factory(kastor, PolicyContext.online(seed));
    return replay(cluster, workload, applications, policy, perDay, seed);
  }

  private static Replay replay(
      String cluster,
      Workload workload,
      Map<String, Application> applications,
      PolicyFactory policy,
      double perDay,
      long seed) {
    return new EventSimulation(
            EventSettings.defaults().withPreemptions(NodeFailures.preemptions(perDay)),
            ClusterShape.parse(cluster),
            workload,
            applications,
            policy,
            seed,
            (seconds, done, all) -> {})
        .run();
  }

  private static Workload gang(int gpus) {
    return new Workload(
        "gang",
        List.of(
            new Workload.Job("gang", 100, "linear", 1, gpus, gpus, 0, Workload.Category.RIGID)));
  }

  /** 30 s to start and 1,000 steps of 1/4 s; 36 in an hour are 0.01 in a second. */
  @Test
  void countsWhatNodesAndJobsCost() {
    Replay replay =
        replay(
            "2x8:price=36",
            gang(4),
            Map.of("linear", PlainApplication.linear(1000)),
            Policies.factory("fifo", PolicyContext.online(1)),
            1,
            1);
    assertThat(replay.makespanSeconds()).isCloseTo(280, within(1e-6));
    assertThat(replay.jobMoney()).isCloseTo(280 * 0.01 / 2, within(1e-6));
    assertThat(replay.nodeMoney()).isCloseTo(2 * 280 * 0.01, within(1e-6));
  }

  @Test
  void takesAwaySpotNodesOnly() {
    List<Snapshot> seen = new ArrayList<>();
    PolicyFactory watched =
        Policies.factory("fifo", PolicyContext.online(1)).map(Watched.first(seen));
    Map<String, Application> applications = Map.of("linear", PlainApplication.linear(400_000));
    Replay replay = replay("1x4:price=1,3x4:price=1:spot", gang(4), applications, watched, 24, 1);
    int away = 0;
    for (Snapshot snapshot : seen) {
      assertThat(snapshot.nodes()).extracting(Node::name).contains("node-0");
      away += 4 - snapshot.nodes().size();
    }
    // Three nodes, an interruption an hour and ten minutes away for each: 3/7 of a node.
    assertThat((double) away / seen.size()).isCloseTo(3.0 / 7, within(0.15));
    double hours = replay.makespanSeconds() / 3600;
    assertThat(replay.nodeMoney()).isCloseTo(hours * (4 - 3.0 / 7), within(0.15 * hours));
  }

  @Tag("slow")
  @Test
  void aPriceOfTimeSavesMoneyForALittleTime() throws TraceException {
    Replay usual = shipped("mixed-40.csv", HALF_SPOT, "kastor", 1, 1);
    Replay thrifty = shipped("mixed-40.csv", HALF_SPOT, "kastor:jobHourValue=5", 1, 1);
    Replay thriftier = shipped("mixed-40.csv", HALF_SPOT, "kastor:jobHourValue=2", 1, 1);
    assertThat(thrifty.jobMoney()).isLessThan(0.7 * usual.jobMoney());
    assertThat(thrifty.averageSeconds()).isLessThan(1.35 * usual.averageSeconds());
    assertThat(thriftier.jobMoney()).isLessThan(0.75 * thrifty.jobMoney());
    // By its own measure each did well: waiting at its worth and money together.
    assertThat(total(thrifty, 5)).isLessThan(total(usual, 5));
    assertThat(total(thriftier, 2)).isLessThan(total(usual, 2));
  }

  private static double total(Replay replay, double jobHourValue) {
    return replay.jobMoney() + jobHourValue * replay.averageSeconds() * replay.jobs().size() / 3600;
  }

  /** The gain is 4.5 % here (20 seeds); on a cluster of twice the size it is none. */
  @Tag("slow")
  @Test
  void toReckonWithInterruptionsIsNotWorseThanToIgnoreThem() throws TraceException {
    double perDay = 48;
    double knowing = 0;
    double ignoring = 0;
    for (int seed = 1; seed <= 4; seed++) {
      knowing += crowded("kastor:interruptionsPerDay=" + perDay, perDay, seed);
      ignoring += crowded("kastor:interruptionsPerDay=0", perDay, seed);
    }
    assertThat(knowing).isLessThanOrEqualTo(ignoring);
  }

  private static double crowded(String kastor, double perDay, long seed) throws TraceException {
    return shipped("small-40.csv", "2x4,2x4:spot", kastor, perDay, seed).averageSeconds();
  }
}
