package dev.kastor.simulator.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.estimate.FamilyMemory;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Policy;
import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.PolicyFactory;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.DeclaredWork;
import dev.kastor.simulator.replay.Replay;
import dev.kastor.simulator.replay.ReplayListener;
import dev.kastor.traces.Application;
import dev.kastor.traces.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Nodes that are slower than others, which nobody tells the scheduler. */
final class SlowNodesReplayTest {
  private static final int NODES = 8;
  private static final Map<String, Application> APPLICATIONS =
      Map.of(
          "one", PlainApplication.elastic(40_000).named("one"),
          "two", PlainApplication.elastic(90_000).named("two"));

  private record Seen(Replay replay, Set<String> calledSlow) {}

  private static Workload workload() {
    List<Workload.Job> jobs = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      String application = i % 3 == 0 ? "two" : "one";
      jobs.add(
          new Workload.Job(
              "job-" + i, 120 * i, application, 1, 16, 2, 0, Workload.Category.ADAPTIVE));
    }
    return new Workload("forty", jobs);
  }

  private static Seen replay(double noise, Stragglers stragglers, long seed) {
    return replay(noise, stragglers, seed, Policies.factory("kastor", PolicyContext.online(seed)));
  }

  private static Seen replay(
      double noise, Stragglers stragglers, long seed, PolicyFactory policies) {
    Set<String> slow = new TreeSet<>();
    ReplayListener listener =
        new ReplayListener() {
          @Override
          public void at(double seconds, int done, int all) {}

          @Override
          public void observed(Snapshot snapshot) {
            snapshot.nodes().stream()
                .filter(node -> node.slowdown() > 1)
                .map(Node::name)
                .forEach(slow::add);
          }
        };
    Replay replay =
        new EventSimulation(
                EventSettings.defaults()
                    .withAdversity(
                        new Adversity(DeclaredWork.EXACT, noise, ReportFaults.NONE, stragglers)),
                ClusterShape.parse(NODES + "x4"),
                workload(),
                APPLICATIONS,
                policies,
                Optional.of(new FamilyMemory()),
                seed,
                listener)
            .run();
    return new Seen(replay, slow);
  }

  /** Names of the nodes that are drawn. */
  private static Set<String> drawn(Stragglers stragglers, long seed) {
    List<Node> nodes = ClusterShape.parse(NODES + "x4").nodes();
    double[] slowdowns = stragglers.slowdowns(NODES, seed);
    Set<String> drawn = new TreeSet<>();
    for (int n = 0; n < NODES; n++) {
      if (slowdowns[n] > 1) {
        drawn.add(nodes.get(n).name());
      }
    }
    return drawn;
  }

  @Tag("slow")
  @Test
  void slowNodesAreFound() {
    areFound(1);
  }

  @Test
  @Tag("nightly")
  void slowNodesAreFoundWithManySeeds() {
    areFound(4);
  }

  private static void areFound(int seeds) {
    Stragglers two = new Stragglers(0.25, 2);
    for (long seed = 1; seed <= seeds; seed++) {
      assertThat(replay(0.02, two, seed).calledSlow())
          .as("seed %d", seed)
          .containsAll(drawn(two, seed));
    }
  }

  /** A policy to which all nodes are equal. */
  private static Policy unaware(Policy policy) {
    return snapshot ->
        policy.plan(
            new Snapshot(
                snapshot.now(),
                snapshot.nodes().stream().map(node -> node.withSlowdown(1)).toList(),
                snapshot.jobs(),
                snapshot.queues()));
  }

  /** One replay proves nothing: who gets which nodes when is a matter of seconds. */
  @Tag("slow")
  @Test
  void twoSlowNodesOfEightCostLessThanWhereNobodyKnowsThem() {
    Stragglers two = new Stragglers(0.25, 2);
    double undisturbed = 0;
    double known = 0;
    double unknown = 0;
    for (long seed = 1; seed <= 6; seed++) {
      PolicyFactory kastor = Policies.factory("kastor", PolicyContext.online(seed));
      undisturbed += replay(0.02, Stragglers.NONE, seed).replay().averageSeconds();
      known += replay(0.02, two, seed).replay().averageSeconds();
      unknown +=
          replay(0.02, two, seed, kastor.map(SlowNodesReplayTest::unaware))
              .replay()
              .averageSeconds();
    }
    assertThat(known).isBetween(undisturbed, 0.97 * unknown);
  }

  @Tag("slow")
  @Test
  void noiseOfStepTimesMakesNoNodeSlow() {
    makesNoNodeSlow(3);
  }

  @Test
  @Tag("nightly")
  void noiseOfStepTimesMakesNoNodeSlowWithManySeeds() {
    makesNoNodeSlow(20);
  }

  private static void makesNoNodeSlow(int seeds) {
    for (long seed = 1; seed <= seeds; seed++) {
      assertThat(replay(0.3, Stragglers.NONE, seed).calledSlow()).as("seed %d", seed).isEmpty();
    }
  }
}
