package dev.kastor.scheduler.speed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.protocol.StepProfile;
import dev.kastor.scheduler.model.Node;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NodeSpeedsTest {
  private static final int REPLICAS = 4;

  private final NodeSpeeds speeds = new NodeSpeeds();
  private Instant now = Instant.parse("2026-01-01T00:00:00Z");

  private Duration between = Duration.ofSeconds(45);

  private void report(String owner, String job, double seconds, String... nodes) {
    now = now.plus(between);
    int replicas = REPLICAS * nodes.length;
    speeds.observe(
        new Steps(
            owner,
            owner + "/family",
            job,
            new StepProfile(nodes.length, replicas, 32, 10, seconds, seconds / 10, "a100"),
            List.of(nodes),
            Optional.empty()),
        now);
  }

  private void report(int times, String job, double seconds, String... nodes) {
    for (int i = 0; i < times; i++) {
      report("team", job, seconds, nodes);
    }
  }

  /** What further reports are compared with: steps of a second, on one node and on two. */
  private void known() {
    for (int i = 0; i < 12; i++) {
      report("team", "a", 1, "a1");
      report("team", "b", 1, "b1");
      report("team", "x", 1, "x1");
    }
    report(4, "c", 1, "c1", "c2");
    report(4, "d", 1, "d1", "d2");
  }

  @Test
  void aNodeIsNamedAfterThreeSlowReports() {
    known();
    report(2, "e", 2, "n1");
    assertThat(speeds.slow()).isEmpty();
    report(1, "e", 2, "n1");
    assertThat(speeds.slow()).containsOnlyKeys("n1").containsEntry("n1", 2.0);
    assertThat(speeds.slowdown(List.of("a1", "n1"))).isEqualTo(2);
    assertThat(speeds.slowdown(List.of("a1", "b1"))).isEqualTo(1);
  }

  @Test
  void aLoadThatPassesMakesNoNodeSlowAndOneThatLastsDoes() {
    known();
    between = Duration.ofSeconds(1);
    report(60, "e", 11, "n1");
    report(60, "e", 1, "n1");
    assertThat(speeds.slow()).isEmpty();
    report(60, "e", 11, "n1");
    assertThat(speeds.slow()).isEmpty();
    report(60, "e", 11, "n1");
    assertThat(speeds.slow()).containsOnlyKeys("n1");
  }

  @Test
  void aLoadThatPassesUnderAnOnlyJobMakesItsNodeNotSlow() {
    between = Duration.ofSeconds(1);
    report(30, "e", 1, "n1");
    report(80, "e", 11, "n1");
    assertThat(speeds.slow()).isEmpty();
    report(20, "e", 11, "n1");
    assertThat(speeds.slow()).containsOnlyKeys("n1");
  }

  @Test
  void factorsAreStepsOfAHalfAndSmallDifferencesAreNone() {
    known();
    report(6, "e", 1.25, "n1");
    report(6, "f", 1.5, "n2");
    report(6, "g", 3, "n3");
    assertThat(speeds.slow()).containsOnlyKeys("n2", "n3");
    assertThat(speeds.slow().get("n2")).isBetween(1.41, 1.42);
    assertThat(speeds.slow().get("n3")).isBetween(2.82, 2.83);
  }

  @Test
  void aSlowNetworkIsNoSlowNode() {
    known();
    report(3, "e", 1, "n1");
    report(3, "f", 1, "n2");
    report(12, "g", 2, "n1", "n2");
    assertThat(speeds.slow()).isEmpty();
  }

  @Test
  void nodesOfASlowStepAreSlowUntilTheirOwnStepsSayOtherwise() {
    known();
    report(4, "e", 2, "n1", "n2");
    assertThat(speeds.slow()).containsOnlyKeys("n1", "n2");
    report(3, "f", 1, "n1");
    assertThat(speeds.slow()).containsOnlyKeys("n2");
  }

  @Test
  void aNodeThatIsKnownToBeSlowExplainsTheStepsOfOthers() {
    known();
    report(3, "e", 2, "n1");
    report(12, "f", 2, "n1", "n2");
    assertThat(speeds.slow()).containsOnlyKeys("n1");
  }

  @Test
  void aFastStepSpeaksForAllItsNodes() {
    known();
    report(3, "e", 2, "n1");
    report(12, "f", 1, "n1", "n2");
    assertThat(speeds.slow()).isEmpty();
  }

  @Test
  void aNodeThatHasRecoveredIsCleared() {
    known();
    report(12, "e", 2, "n1");
    report(7, "e", 1, "n1");
    assertThat(speeds.slow()).isEmpty();
  }

  @Test
  void aNodeThatBecomesSlowUnderItsOnlyJobIsFoundAndClearedAgain() {
    report(100, "e", 1, "n1");
    report(12, "e", 2, "n1");
    assertThat(speeds.slow()).containsEntry("n1", 2.0);
    report(100, "e", 2, "n1");
    assertThat(speeds.slow()).as("what is new becomes no habit").containsEntry("n1", 2.0);
    report(12, "e", 1, "n1");
    assertThat(speeds.slow()).isEmpty();
  }

  @Test
  void noJobMakesANodeSlowerThanWhatStillTrains() {
    report(4, "liar", 0.1, "n1");
    report(20, "liar", 100, "n1");
    assertThat(speeds.slow()).containsEntry("n1", NodeEvidence.MOST);
  }

  @Test
  void whatOneJobAloneSaysOfItsNodeIsToldWhileThereIsRoomElsewhere() {
    report(4, "liar", 1, "n1");
    report(20, "liar", 3, "n1");
    assertThat(speeds.slow()).containsOnlyKeys("n1");
    List<Node> nodes = List.of(node("n1"), node("n2"), node("n3", "other"));
    assertThat(slowTold(nodes, Map.of("n1", 4, "n2", 4))).as("others would have to go").isEmpty();
    assertThat(slowTold(nodes, Map.of("n1", 4, "n2", 1))).isEmpty();
    assertThat(slowTold(nodes, Map.of("n1", 4))).containsExactly("n1");
    assertThat(slowTold(nodes, Map.of("n1", 2, "n2", 2))).containsExactly("n1");
  }

  @Test
  void whatOthersConfirmIsToldAlways() {
    known();
    report(12, "e", 2, "n1");
    List<Node> nodes = List.of(node("n1"), node("a1"));
    assertThat(slowTold(nodes, Map.of("n1", 4, "a1", 4))).containsExactly("n1");
  }

  @Test
  void whatOthersConfirmLaterIsToldAlways() {
    report(4, "e", 1, "n1");
    report(20, "e", 2, "n1");
    List<Node> nodes = List.of(node("n1"), node("a1"));
    assertThat(slowTold(nodes, Map.of("n1", 4, "a1", 4))).isEmpty();
    known();
    report(12, "f", 2, "n1");
    assertThat(slowTold(nodes, Map.of("n1", 4, "a1", 4))).containsExactly("n1");
  }

  @Test
  void aNodeBeyondTheCapMakesNoOtherSlow() {
    known();
    report(12, "e", 8, "n1");
    report(12, "f", 8, "n1", "n2");
    assertThat(speeds.slow()).containsOnlyKeys("n1");
  }

  @Test
  void aJobOnManyNodesIsHeardThoughASlowOneMakesAllOfItsStepsSlow() {
    known();
    report(4, "c4", 1, "c1", "c2", "c3", "c4");
    report(4, "d4", 1, "d1", "d2", "d3", "d4");
    report(8, "e", 2, "n1", "n2", "n3", "n4");
    assertThat(speeds.unheard("e")).isFalse();
  }

  @Test
  void whoHasSlowNodesAloneFindsThemAllTheSame() {
    between = Duration.ofSeconds(5);
    for (int i = 0; i < 12; i++) {
      report("others", "a", 1, "a1");
      report("others", "b", 1, "b1");
    }
    for (int i = 0; i < 40; i++) {
      report("own", "e", i < 4 ? 1 : 2, "n1");
      report("own", "f", i < 4 ? 1 : 2, "n2");
    }
    assertThat(speeds.slow()).containsOnlyKeys("n1", "n2");
  }

  private List<String> slowTold(List<Node> nodes, Map<String, Integer> taken) {
    return speeds.told(nodes, () -> taken).stream()
        .filter(node -> node.slowdown() > 1)
        .map(Node::name)
        .toList();
  }

  private static Node node(String name) {
    return node(name, "a100");
  }

  private static Node node(String name, String type) {
    return new Node(name, type, 4);
  }

  @Test
  void whoTellsOfTimesAtRandomHidesNoSlowNodeOfOthers() {
    var random = new SplittableRandom(1);
    int found = -1;
    for (int i = 0; i < 60 && found < 0; i++) {
      for (int k = 0; k < 4; k++) {
        report("evil", "z" + k, Math.exp(3 * random.nextGaussian()), "g" + k);
      }
      report("good", "y", i < 20 ? 0.1 : 0.3, "n1");
      found = speeds.slow().containsKey("n1") ? i : -1;
    }
    assertThat(found).as("report at which it is found, slow from 20 on").isBetween(21, 35);
  }

  @Test
  void aJobThatCallsOneNodeAfterAnotherSlowIsNotHeardAnyMore() {
    double seconds = 1;
    for (String node : List.of("n1", "n2", "n3")) {
      report(4, "liar", seconds, node);
      seconds *= 4;
      report(12, "liar", seconds, node);
    }
    assertThat(speeds.unheard("liar")).isTrue();
    assertThat(speeds.slow()).isEmpty();
    report(12, "liar", 1000, "n4");
    assertThat(speeds.slow()).isEmpty();
  }

  @Test
  void aJobUnlikeItsFamilyMakesNoNodeSlow() {
    known();
    report(6, "large", 3, "n1");
    report(6, "large", 3, "n2");
    speeds.age(Set.of("n1", "n2"), now);
    report(6, "large", 3, "n3");
    assertThat(speeds.slow()).isEmpty();
  }

  @Test
  void nobodyCallsANodeSlowOnWhichAnothersJobIsFast() {
    known();
    for (int i = 0; i < 4; i++) {
      report("evil", "v", 0.1, "v1");
      report("evil", "w", 0.1, "w1");
    }
    for (int i = 0; i < 6; i++) {
      report("evil", "z", 1, "n1");
    }
    assertThat(speeds.slow()).containsOnlyKeys("n1");
    for (int i = 0; i < 6; i++) {
      report("evil", "z", 1, "n1");
      report("team", "e", 1, "n1");
    }
    assertThat(speeds.slow()).isEmpty();
  }

  @Test
  void whatIsOldOrGoneIsForgotten() {
    known();
    report(3, "e", 2, "n1");
    report(3, "f", 2, "n2");
    speeds.age(Set.of("n1"), now);
    assertThat(speeds.slow()).containsOnlyKeys("n1");
    now = now.plus(Duration.ofMinutes(61));
    assertThat(speeds.age(Set.of("n1"), now)).containsExactly(new NodeSpeeds.Changed("n1", 2, 1));
    assertThat(speeds.slow()).isEmpty();
  }

  @Tag("slow")
  @ParameterizedTest
  @ValueSource(doubles = {0.02, 0.1, 0.3})
  void noiseMakesNoNodeSlowAndHidesNoneThatIs(double noise) {
    tellsNoiseFromSlowness(noise, 3);
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.02, 0.1, 0.3})
  @Tag("nightly")
  void noiseMakesNoNodeSlowAndHidesNoneThatIsInManyClusters(double noise) {
    tellsNoiseFromSlowness(noise, 20);
  }

  private static void tellsNoiseFromSlowness(double noise, int clusters) {
    for (int seed = 0; seed < clusters; seed++) {
      Cluster healthy = new Cluster(noise, seed);
      healthy.run(4000, 1);
      assertThat(healthy.everSlow).as("healthy, seed %d", seed).isFalse();
      Cluster one = new Cluster(noise, seed);
      one.run(400, 1);
      one.run(2000, 2);
      assertThat(one.found).as("one is slow, seed %d", seed).isTrue();
      assertThat(one.everSlow).as("another one, seed %d", seed).isFalse();
    }
  }

  /** Twelve jobs of one family that move between sixteen nodes now and then. */
  private static final class Cluster {
    private final NodeSpeeds speeds = new NodeSpeeds();
    private final SplittableRandom random;
    private final double noise;
    private final int[] places = new int[12];
    private Instant now = Instant.EPOCH;
    private boolean everSlow;
    private boolean found;

    Cluster(double noise, long seed) {
      this.noise = noise;
      random = new SplittableRandom(seed);
      for (int job = 0; job < places.length; job++) {
        places[job] = job;
      }
    }

    /** So many reports, while the first node is this many times slower than the others. */
    void run(int reports, double slowdown) {
      for (int i = 0; i < reports; i++) {
        int job = random.nextInt(places.length);
        if (random.nextInt(20) == 0) {
          places[job] = random.nextInt(16);
        }
        double seconds =
            Math.exp(noise * random.nextGaussian()) * (places[job] == 0 ? slowdown : 1);
        now = now.plusSeconds(3);
        StepProfile profile = new StepProfile(1, REPLICAS, 32, 10, seconds, 0, "a100");
        String node = "node-" + places[job];
        speeds.observe(
            new Steps("team", "family", "job-" + job, profile, List.of(node), Optional.empty()),
            now);
        everSlow |= speeds.slow().keySet().stream().anyMatch(name -> !name.equals("node-0"));
        everSlow |= slowdown == 1 && !speeds.slow().isEmpty();
        found |= speeds.slow().containsKey("node-0");
      }
    }
  }
}
