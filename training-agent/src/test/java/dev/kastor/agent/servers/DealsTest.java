package dev.kastor.agent.servers;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.agent.bench.SimulatedWorkers;
import dev.kastor.engine.train.ServerPlan;
import dev.kastor.protocol.BatchPlan;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DealsTest {
  private static final BatchPlan BATCH = new BatchPlan(4, 0);
  private static final long SECOND = 1_000_000_000L;

  private long now;

  private Deals deals(ServerPlan plan, int workers) {
    Deals deals = new Deals(plan, workers, BATCH, 0, 100, () -> now);
    for (int rank = 0; rank < workers; rank++) {
      deals.joined(rank);
    }
    return deals;
  }

  private static ServerPlan steps(int backup) {
    return new ServerPlan(1, false, backup, 0);
  }

  private static ServerPlan asynchronous(int mostStaleness) {
    return new ServerPlan(1, true, 0, mostStaleness);
  }

  @Test
  void sharesOfAStepFollowEachOther() {
    Deals deals = deals(steps(0), 2);
    assertThat(deals.deal(1)).contains(new Message.Deal(0, 0, 100, 4, 0));
    assertThat(deals.deal(0)).contains(new Message.Deal(0, 1, 104, 4, 0));
    assertThat(deals.came(0, 1)).isTrue();
    assertThat(deals.deal(0)).as("without backup workers nobody copies").isEmpty();
    assertThat(deals.isComplete()).isFalse();
    assertThat(deals.came(1, 0)).isTrue();
    assertThat(deals.isComplete()).isTrue();
    deals.applied();
    assertThat(deals.deal(0)).contains(new Message.Deal(1, 2, 108, 4, 0));
  }

  @Test
  void theFirstCopyCountsAndLaterOnesAreDropped() {
    Deals deals = deals(steps(1), 3);
    deals.deal(0);
    deals.deal(1);
    assertThat(deals.deal(2).orElseThrow().share()).as("dealt first").isZero();
    assertThat(deals.came(2, 0)).isTrue();
    assertThat(deals.isWanted(0, 0)).isFalse();
    assertThat(deals.came(0, 0)).isFalse();
    assertThat(deals.came(1, 1)).isTrue();
    assertThat(deals.isComplete()).isTrue();
    assertThat(deals.dropped()).isPositive();
  }

  @Test
  void aWorkerThatHadAShareCopiesOnlyOnceItExpectsToBeSooner() {
    Deals deals = deals(steps(1), 3);
    deals.deal(0);
    deals.deal(1);
    now = SECOND;
    assertThat(deals.isWanted(0, 0)).isTrue();
    deals.came(0, 0);
    assertThat(deals.deal(0)).isEmpty();
    assertThat(deals.isWanted(1, 1)).isTrue();
    assertThat(deals.came(1, 1)).isTrue();
    deals.applied();
    // Both are known to take a second now.
    deals.deal(0);
    deals.deal(1);
    now += SECOND;
    deals.isWanted(0, 2);
    deals.came(0, 2);
    assertThat(deals.deal(0)).as("worker 1 is due").isEmpty();
    now += SECOND / 2;
    assertThat(deals.deal(0)).isEmpty();
    now += SECOND;
    assertThat(deals.deal(0)).as("overdue by more than a copy takes").isPresent();
  }

  @Test
  void theShareOfAWorkerThatIsGoneIsDealtAgain() {
    Deals deals = deals(steps(0), 2);
    deals.deal(0);
    deals.deal(1);
    deals.lost(0);
    assertThat(deals.came(0, 0)).as("it was not there any more").isFalse();
    deals.came(1, 1);
    assertThat(deals.deal(1)).contains(new Message.Deal(0, 0, 100, 4, 0));
  }

  @Test
  void oneThatGivesNoNumberIsFaultyIfAnotherDoes() {
    Deals deals = deals(steps(0), 2);
    deals.deal(0);
    deals.deal(1);
    assertThat(deals.spoiled(0, 0)).isFalse();
    assertThat(deals.deal(0)).as("not the same share again").isEmpty();
    deals.came(1, 1);
    assertThat(deals.deal(1).orElseThrow().share()).isZero();
    deals.came(1, 0);
    assertThat(deals.faultyAt(0)).hasValue(0);
    assertThat(deals.faultyAt(1)).isEmpty();
  }

  @Test
  void oneThatGivesNoNumberBeforeOthersAreThereIsNotEnough() {
    Deals deals = new Deals(steps(0), 2, BATCH, 0, 100, () -> now);
    deals.joined(0);
    deals.deal(0);
    assertThat(deals.spoiled(0, 0)).as("worker 1 may do better").isFalse();
    deals.joined(1);
    assertThat(deals.deal(1).orElseThrow().share()).isZero();
    assertThat(deals.came(1, 0)).isTrue();
    assertThat(deals.faultyAt(0)).hasValue(0);
  }

  @Test
  void aFaultyWorkerIsToldTheStepInWhichItWas() {
    Deals deals = deals(steps(0), 1);
    deals.deal(0);
    deals.came(0, 0);
    deals.applied();
    deals.moved(2, BATCH);
    deals.joined(0);
    deals.joined(1);
    long share = deals.deal(0).orElseThrow().share();
    assertThat(deals.spoiled(0, share)).isFalse();
    assertThat(deals.deal(1).orElseThrow().share()).isEqualTo(share);
    deals.came(1, share);
    long other = deals.deal(1).orElseThrow().share();
    deals.came(1, other);
    deals.applied();
    assertThat(deals.faultyAt(0)).hasValue(1);
  }

  @Test
  void theOnlyWorkerOfAGenerationIsEnough() {
    Deals deals = deals(steps(0), 2);
    deals.moved(1, BATCH);
    deals.joined(0);
    deals.deal(0);
    assertThat(deals.spoiled(0, 0)).isTrue();
  }

  @Test
  void twoThatGiveNoNumberAreEnough() {
    Deals deals = deals(steps(0), 2);
    deals.deal(0);
    deals.deal(1);
    assertThat(deals.spoiled(0, 0)).isFalse();
    deals.came(1, 1);
    deals.deal(1);
    assertThat(deals.spoiled(1, 0)).isTrue();
  }

  /** Steps in simulated time, of workers that take so long for a share. */
  private static double secondsOfAStep(ServerPlan plan, double... seconds) {
    RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(3);
    SimulatedWorkers workers =
        new SimulatedWorkers(
            plan,
            seconds.length,
            rank -> (long) (seconds[rank] * (1 + 0.05 * random.nextDouble()) * SECOND));
    int steps = 300;
    long nanos = 0;
    for (int i = 0; i < steps; i++) {
      nanos = workers.next().nanos();
    }
    return (double) nanos / SECOND / steps;
  }

  @Tag("slow")
  @ParameterizedTest
  @CsvSource({"0,1,2", "1,2,0", "2,0,1"})
  void aBackupWorkerHidesOneThatIsTenTimesSlower(int first, int second, int third) {
    double[] usual = {1, 1, 1};
    double[] slowed = new double[3];
    slowed[first] = 1;
    slowed[second] = 1;
    slowed[third] = 10;
    double none = secondsOfAStep(steps(1), usual);
    assertThat(secondsOfAStep(steps(1), slowed)).isLessThan(1.2 * none);
    assertThat(secondsOfAStep(steps(0), slowed)).isGreaterThan(9 * none);
  }

  @Test
  void copiesCostNothingWhereNobodyIsSlow() {
    double without = secondsOfAStep(steps(0), 1, 1);
    assertThat(secondsOfAStep(steps(1), 1, 1, 1)).isLessThan(1.02 * without);
  }

  /** Workers that come, go, are slow and give no numbers, at random. */
  @Tag("slow")
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void eachExampleCountsOnceWhateverHappens(int kind) {
    ServerPlan plan =
        switch (kind) {
          case 0 -> steps(0);
          case 1 -> steps(2);
          case 2 -> asynchronous(0);
          default -> asynchronous(3);
        };
    for (int seed = 0; seed < 50; seed++) {
      RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
      int workers = 5;
      now = 0;
      Deals deals = new Deals(plan, workers, BATCH, 0, 0, () -> now);
      Set<Integer> there = new HashSet<>();
      Map<Integer, Message.Deal> busy = new HashMap<>();
      List<Long> counted = new ArrayList<>();
      List<Long> inStep = new ArrayList<>();
      long[] updates = {0};
      int[] waiting = {0};
      for (int event = 0; event < 3000; event++) {
        now += random.nextInt(1000);
        int rank = random.nextInt(workers);
        if (!there.contains(rank)) {
          deals.joined(rank);
          there.add(rank);
        } else if (random.nextInt(40) == 0 && there.size() > 1) {
          deals.lost(rank);
          there.remove(rank);
          busy.remove(rank);
        } else if (!busy.containsKey(rank)) {
          deals.deal(rank).ifPresent(deal -> busy.put(rank, deal));
        } else if (random.nextInt(30) == 0 && there.size() > 2 && event < 2000) {
          // Two agree only where the training diverged, which ends the job.
          Message.Deal deal = busy.remove(rank);
          if (deals.spoiled(rank, deal.share())) {
            break;
          }
        } else {
          Message.Deal deal = busy.remove(rank);
          if (deals.came(rank, deal.share())) {
            inStep.add(deal.first());
            if (plan.asynchronous()) {
              long staleness = updates[0] + waiting[0] - deal.update();
              if (plan.mostStaleness() > 0) {
                assertThat(staleness).isBetween(0L, (long) plan.mostStaleness());
              }
              deals.applied();
              updates[0]++;
            } else if (deals.isComplete()) {
              assertThat(inStep).hasSize(deals.shares());
              deals.applied();
            } else {
              continue;
            }
            counted.addAll(inStep);
            inStep.clear();
          }
        }
      }
      assertThat(counted).doesNotHaveDuplicates();
      if (!plan.asynchronous()) {
        long[] sorted = counted.stream().mapToLong(each -> each).sorted().toArray();
        long[] expected = new long[sorted.length];
        Arrays.setAll(expected, i -> i * 4L);
        assertThat(sorted).isEqualTo(expected);
      }
    }
  }

  @Test
  void aDrainEndsWithoutAMissingShareThoughOneWorkerIsSlow() {
    Deals deals = deals(asynchronous(0), 2);
    assertThat(deals.deal(0).orElseThrow().share()).isZero();
    assertThat(deals.deal(1).orElseThrow().share()).isEqualTo(1);
    now += SECOND;
    deals.isWanted(1, 1);
    deals.came(1, 1);
    deals.applied();
    deals.drain();
    assertThat(deals.isDrained()).isFalse();
    now += SECOND;
    assertThat(deals.deal(1).orElseThrow().share()).as("a copy").isZero();
    deals.came(1, 0);
    deals.applied();
    assertThat(deals.isDrained()).isTrue();
    assertThat(deals.deal(1)).isEmpty();
    deals.resume();
    assertThat(deals.deal(1)).contains(new Message.Deal(2, 2, 108, 4, 0));
    assertThat(deals.isWanted(0, 0)).isFalse();
  }

  @Test
  void anotherGenerationDealsAgainWhatIsMissing() {
    Deals deals = deals(asynchronous(0), 2);
    deals.deal(0);
    deals.deal(1);
    deals.came(1, 1);
    deals.applied();
    deals.moved(1, new BatchPlan(16, 1));
    deals.joined(0);
    assertThat(deals.deal(0)).as("as it was").contains(new Message.Deal(1, 0, 100, 4, 0));
    deals.came(0, 0);
    deals.applied();
    assertThat(deals.deal(0)).contains(new Message.Deal(2, 2, 108, 16, 1));
  }
}
