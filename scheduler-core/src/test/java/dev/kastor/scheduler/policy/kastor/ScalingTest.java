package dev.kastor.scheduler.policy.kastor;

import static dev.kastor.scheduler.model.TestJob.job;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.scheduler.model.AllowedReplicas;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.TestJob;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is believed of replicas that were never measured. */
final class ScalingTest {
  private static final List<Node> TWO_SLOTS = List.of(new Node("n", "a", 2));

  private static Offers[] offers(List<Node> nodes, JobState... jobs) {
    Pools pools = Pools.of(nodes, TestOptions.USUAL);
    return new OfferBook(TestOptions.USUAL).of(List.of(jobs), pools);
  }

  private static TestJob alone(String name) {
    return job(name).model(TestJob.SCALABLE, 1).steps(0, 1000);
  }

  private static double gain(Offers offers) {
    return offers.rate()[offers.find(0, 2)] / offers.rate()[offers.find(0, 1)];
  }

  @Test
  void isTheModelsWhereAllHaveAPlace() {
    Offers one = offers(TWO_SLOTS, alone("a").build())[0];
    Offers two = offers(TWO_SLOTS, alone("a").build(), alone("b").build())[0];
    assertThat(gain(two)).isEqualTo(gain(one)).isGreaterThan(1.6);
  }

  @Test
  void isLessWhereJobsWaitForAPlace() {
    double free = gain(offers(TWO_SLOTS, alone("a").build())[0]);
    Offers crowded =
        offers(TWO_SLOTS, alone("a").build(), alone("b").build(), alone("c").build())[0];
    assertThat(gain(crowded)).isCloseTo(free * Math.pow(2, -0.1), within(1e-12));
  }

  @Test
  void isWhatOtherJobsLostByTheirReplicas() {
    TestJob stubborn = job("s").model(TestJob.STUBBORN, 2).steps(0, 1000);
    Offers measured = offers(TWO_SLOTS, stubborn.build())[0];
    double lost = Math.clamp(1 - Math.log(gain(measured)) / Math.log(2), 0, 1);
    // It and the usual loss of a tenth, in steps of a twentieth.
    double mean = Math.round((0.1 + lost) / 2 * 20) / 20.0;
    double free = gain(offers(TWO_SLOTS, alone("a").build())[0]);
    Offers[] crowded = offers(TWO_SLOTS, alone("a").build(), stubborn.build(), alone("c").build());
    assertThat(mean).isGreaterThan(0.4);
    assertThat(gain(crowded[0])).isCloseTo(free * Math.pow(2, -mean), within(1e-12));
    assertThat(gain(crowded[1])).as("what was measured").isEqualTo(gain(measured));
  }

  @Test
  void jobsThatNobodyMeasuredBeginWithTheirFewestReplicasWhereJobsWait() {
    JobState unknown = job("u").build();
    List<Node> nodes = List.of(new Node("n", "a", 4));
    assertThat(offers(nodes, unknown)[0].slots()).containsExactly(1, 2, 4);
    JobState gang = job("gang").elasticity(new Elasticity.Rigid(4)).build();
    assertThat(offers(nodes, unknown, gang)[0].slots()).containsExactly(1);
  }

  @Test
  void jobsThatCannotRunOrAreHeldBackDoNotCount() {
    List<Node> nodes = List.of(new Node("n", "a", 2));
    JobState large = job("large").elasticity(new Elasticity.Rigid(4)).build();
    JobState fixed =
        job("fixed")
            .elasticity(new Elasticity.Adaptive(1, 2, new AllowedReplicas.Any()))
            .pinned()
            .build();
    assertThat(offers(nodes, job("u").build(), large, fixed, job("v").build())[0].slots())
        .containsExactly(1, 2);
  }

  @Test
  void jobsOfLowerPriorityDoNotCount() {
    JobState high = job("high").priority(1).build();
    Offers[] offers = offers(TWO_SLOTS, high, job("a").build(), job("b").build());
    assertThat(offers[0].slots()).containsExactly(1, 2);
    assertThat(offers[1].slots()).containsExactly(1);
  }
}
