package dev.kastor.simulator.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.scheduler.advice.NodeRules;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.PolicyFactory;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.Replay;
import dev.kastor.traces.Application;
import dev.kastor.traces.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A cluster that follows advice on its size. */
final class AutoscalingTest {
  private static final Map<String, Application> APPLICATIONS =
      Map.of("linear", PlainApplication.linear(4000), "elastic", PlainApplication.elastic(60_000));

  private record Seen(Replay replay, List<Snapshot> snapshots) {
    int mostNodes() {
      return snapshots.stream().mapToInt(s -> s.nodes().size()).max().orElseThrow();
    }

    int fewestNodes() {
      return snapshots.stream().mapToInt(s -> s.nodes().size()).min().orElseThrow();
    }

    /** When the cluster first had so many nodes. */
    double secondsOf(int nodes) {
      return snapshots.stream()
          .filter(s -> s.nodes().size() >= nodes)
          .mapToDouble(s -> s.now().toEpochMilli() / 1000.0)
          .min()
          .orElseThrow();
    }
  }

  private static Workload gangs(int count, double secondsApart) {
    List<Workload.Job> jobs = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      jobs.add(
          new Workload.Job(
              "job-" + i, i * secondsApart, "linear", 1, 4, 4, 0, Workload.Category.RIGID));
    }
    return new Workload("gangs", jobs);
  }

  private static Seen replay(
      String rules, int delay, String cluster, Workload work, String policy) {
    EventSettings settings =
        EventSettings.defaults()
            .withAutoscaling(
                Optional.of(new Autoscaling(NodeRules.parse(rules), Duration.ofSeconds(delay))));
    List<Snapshot> seen = new ArrayList<>();
    PolicyFactory watched =
        Policies.factory(policy, PolicyContext.online(1)).map(Watched.first(seen));
    Replay replay =
        new EventSimulation(
                settings,
                ClusterShape.parse(cluster),
                work,
                APPLICATIONS,
                watched,
                1,
                (seconds, done, all) -> {})
            .run();
    return new Seen(replay, seen);
  }

  @Test
  void growsForThoseWhoWaitAfterAWindowAndTheDelay() {
    // Six gangs of a node each, all at once, on one node.
    Seen seen = replay("0.5:0.9:1-8", 300, "1x4", gangs(6, 0), "fifo");
    assertThat(seen.replay().jobs()).hasSize(6).allMatch(job -> job.finishSeconds() > 0);
    assertThat(seen.mostNodes()).isBetween(6, 8);
    // Fifteen samples, the first after a minute and before the job's GPUs count, then the delay.
    assertThat(seen.secondsOf(2)).isBetween(15 * 60 + 300.0, 17 * 60 + 300.0);
    assertThat(replay("0.5:0.9:1-8", 0, "1x4", gangs(6, 0), "fifo").secondsOf(2))
        .isEqualTo(seen.secondsOf(2) - 300);
  }

  @Test
  void shrinksToWhatIsUsed() {
    Seen seen = replay("0.5:0.9:1-8", 60, "8x4", gangs(2, 0), "fifo");
    assertThat(seen.fewestNodes()).isBetween(2, 3);
    assertThat(seen.replay().providedGpuHours())
        .isLessThan(0.98 * 8 * 4 * seen.replay().makespanSeconds() / 3600);
  }

  @Test
  void releasesIdleNodesFirst() {
    List<Workload.Job> jobs = new ArrayList<>(gangs(3, 0).jobs());
    jobs.add(new Workload.Job("long", 0, "elastic", 1, 4, 4, 0, Workload.Category.RIGID));
    Seen seen = replay("0.5:0.9:1-4", 60, "4x4", new Workload("w", jobs), "fifo");
    assertThat(seen.fewestNodes()).isLessThan(4);
    // It is on the last node, which stays although it is the last.
    assertThat(seen.replay().jobs()).allMatch(job -> job.restarts() == 0);
  }

  @Tag("slow")
  @Test
  void staysWithinItsRangeUnderAnyPolicy() {
    for (String policy : List.of("pollux", "sia", "tiresias")) {
      List<Workload.Job> jobs = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        jobs.add(
            new Workload.Job(
                "job-" + i, 600 * i, "elastic", 1, 16, 2, 0, Workload.Category.ADAPTIVE));
      }
      Seen seen = replay("0.5:0.7:1-5", 120, "3x4", new Workload("w", jobs), policy);
      assertThat(seen.replay().jobs()).as(policy).hasSize(8);
      assertThat(seen.mostNodes()).as(policy).isLessThanOrEqualTo(5);
      assertThat(seen.fewestNodes()).as(policy).isGreaterThanOrEqualTo(1);
      Seen again = replay("0.5:0.7:1-5", 120, "3x4", new Workload("w", jobs), policy);
      assertThat(again.replay().jobs()).isEqualTo(seen.replay().jobs());
    }
  }

  @Test
  void comesBackFromNoNodesAtAll() {
    List<Workload.Job> jobs = new ArrayList<>(gangs(1, 0).jobs());
    jobs.add(new Workload.Job("late", 20_000, "linear", 1, 8, 8, 0, Workload.Category.RIGID));
    Seen seen = replay("0.5:0.9:0-4", 60, "1x4", new Workload("w", jobs), "fifo");
    Replay.Completed late = seen.replay().jobs().get(1);
    // A look within a minute, then the delay: no window of samples.
    assertThat(late.waitSeconds()).isBetween(60.0, 125.0);
  }

  @Test
  void refusesWhatCannotBe() {
    assertThatThrownBy(() -> replay("0.5:0.9:v100=0-4", 60, "1x4", gangs(1, 0), "fifo"))
        .hasMessageContaining("no nodes of GPU type 'v100' to scale");
    assertThatThrownBy(() ->
            EventSettings.defaults()
                .withResizes(List.of(new Resize(Duration.ZERO, "", 2)))
                .withAutoscaling(
                    Optional.of(new Autoscaling(NodeRules.parse("0.5:0.9:1-4"), Duration.ZERO))))
        .hasMessageContaining("cannot both follow advice");
  }
}
