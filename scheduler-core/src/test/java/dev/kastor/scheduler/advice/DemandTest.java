package dev.kastor.scheduler.advice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.protocol.GradientStats;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.ThroughputParams;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.TestJob;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Laws of how many nodes some jobs are worth. */
final class DemandTest {
  private static final NodeType FOUR = new NodeType("", 4, 0);
  private static final Market MARKET = new Market(List.of(FOUR));

  private static JobState random(int number, SplittableRandom random) {
    double size = Math.exp(random.nextGaussian());
    GoodputModel model =
        new GoodputModel(
            new ThroughputParams(0.02, 0.002 * size, 0.05 * size, 0.002, 0.02 * size, 0.001, 1.5),
            new GradientStats(1, 5 + random.nextInt(100), 64));
    TestJob job = TestJob.job("job-%03d".formatted(number));
    return switch (random.nextInt(4)) {
      case 0 -> job.elasticity(new Elasticity.Rigid(1 + random.nextInt(12))).build();
      case 1 -> job.replicas(1 + random.nextInt(3), 8).build();
      default -> job.replicas(1, 1 + random.nextInt(32)).model(model, random.nextInt(17)).build();
    };
  }

  private static Demand demand(List<JobState> jobs) {
    return Demand.of(jobs.stream().map(job -> new JobWorth(job, MARKET)).toList(), FOUR, MARKET);
  }

  private static NodeRules rules(SplittableRandom random) {
    double low = 0.2 + 0.5 * random.nextDouble();
    int min = random.nextInt(3);
    return NodeRules.parse(
        "%s:%s:%d-%d".formatted(low, low + 0.2, min, min + 1 + random.nextInt(40)));
  }

  @Tag("slow")
  @Test
  void moreJobsNeverAdviseFewerNodes() {
    for (int seed = 0; seed < 300; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      NodeRules rules = rules(random);
      NodeRules.Range range = rules.range("").orElseThrow();
      List<JobState> jobs = new ArrayList<>();
      int before = demand(jobs).nodes(rules, range);
      for (int j = 0; j < 12; j++) {
        jobs.add(random(j, random));
        int now = demand(jobs).nodes(rules, range);
        assertThat(now).as("seed %d, job %d, %s", seed, j, rules).isGreaterThanOrEqualTo(before);
        assertThat(now).isBetween(range.min(), range.max());
        before = now;
      }
    }
  }

  @Tag("slow")
  @Test
  void liesWithinTheBandWhereAnyNumberOfNodesDoes() {
    int within = 0;
    for (int seed = 0; seed < 300; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      NodeRules rules = rules(random);
      NodeRules.Range range = rules.range("").orElseThrow();
      List<JobState> jobs = new ArrayList<>();
      IntStream.range(0, 1 + random.nextInt(12)).forEach(j -> jobs.add(random(j, random)));
      Demand demand = demand(jobs);
      int few = Math.clamp(demand.leastNodes(), range.min(), range.max());
      boolean possible =
          IntStream.rangeClosed(Math.max(1, few), range.max())
              .mapToDouble(demand::utility)
              .anyMatch(u -> u >= rules.low() && u <= rules.high());
      double utility = demand.utility(demand.nodes(rules, range));
      if (possible) {
        within++;
        assertThat(utility).as("seed %d, %s", seed, rules).isBetween(rules.low(), rules.high());
      }
    }
    assertThat(within).isGreaterThan(100);
  }

  @Test
  void utilityNeverRisesWithTheNodes() {
    for (int seed = 0; seed < 100; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      List<JobState> jobs = new ArrayList<>();
      IntStream.range(0, 8).forEach(j -> jobs.add(random(j, random)));
      Demand demand = demand(jobs);
      for (int nodes = 1; nodes < 40; nodes++) {
        assertThat(demand.utility(nodes + 1)).isLessThanOrEqualTo(demand.utility(nodes) + 1e-12);
      }
    }
  }

  @Test
  void everyJobCanRun() {
    List<JobState> gang = List.of(TestJob.job("a").elasticity(new Elasticity.Rigid(9)).build());
    NodeRules rules = NodeRules.parse("0.9:0.95:0-8");
    assertThat(demand(gang).nodes(rules, rules.range("").orElseThrow())).isEqualTo(3);
    // One job on a quarter of a node is far below the band, and still needs the node.
    List<JobState> one = List.of(TestJob.job("a").elasticity(new Elasticity.Rigid(1)).build());
    assertThat(demand(one).nodes(rules, rules.range("").orElseThrow())).isEqualTo(1);
    assertThat(demand(List.of()).nodes(rules, rules.range("").orElseThrow())).isZero();
  }

  @Test
  void goodputPerDollarDecidesWhereAJobBelongs() {
    // The fast type is alike here and costs four times as much.
    NodeType dear = new NodeType("dear", 4, 8);
    NodeType cheap = new NodeType("cheap", 4, 2);
    Market market = new Market(List.of(dear, cheap));
    JobWorth job =
        new JobWorth(TestJob.job("a").replicas(1, 4).model(TestJob.SCALABLE, 4).build(), market);
    assertThat(job.best()).contains(cheap);
    // A slot of the cheap type buys what it costs; the same slot of the dear one a quarter.
    assertThat(Demand.of(List.of(job), cheap, market).utility(1))
        .isCloseTo(4 * Demand.of(List.of(job), dear, market).utility(1), within(1e-9));
    assertThat(job.gains(cheap).getFirst().worth()).isLessThanOrEqualTo(0.5 + 1e-9);
  }

  @Test
  void readsRulesAndSaysWhatIsWrong() {
    NodeRules rules = NodeRules.parse("0.5:0.8:a100=0-4,t4=1-16");
    assertThat(rules.range("a100")).contains(new NodeRules.Range(0, 4));
    assertThat(rules.range("v100")).isEmpty();
    assertThat(NodeRules.parse(rules.toString())).isEqualTo(rules);
    assertThat(NodeRules.parse("0.5:0.8:1-4").range("any")).contains(new NodeRules.Range(1, 4));
    assertThatThrownBy(() -> NodeRules.parse("0.5:0.8")).hasMessageContaining("0.55:0.75:1-16");
    assertThatThrownBy(() -> NodeRules.parse("0.8:0.5:1-4")).hasMessageContaining("below high");
    assertThatThrownBy(() -> NodeRules.parse("0.5:0.8:4-1")).hasMessageContaining("at least min");
    assertThatThrownBy(() -> NodeRules.parse("0.5:0.8:a=1-4,a=1-4")).hasMessageContaining("twice");
  }
}
