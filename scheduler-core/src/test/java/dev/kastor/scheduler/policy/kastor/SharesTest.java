package dev.kastor.scheduler.policy.kastor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Offset.offset;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Dividing slots among random bids of fixed values. */
final class SharesTest {
  private static final double EXACT = 1e12;
  private static final double ROUNDING = 1e-6;

  private final SplittableRandom random = new SplittableRandom(5);

  private static Shares.Given divide(List<Bid> bids, int[] capacity, double budget) {
    double[] price = new double[capacity.length];
    Arrays.fill(price, 0.5);
    return new Shares(bids, capacity, price, budget).divide();
  }

  private int[] capacity(int pools) {
    return random.ints(pools, 0, 13).toArray();
  }

  @Tag("slow")
  @Test
  void moreBudgetIsNeverWorseAndNothingIsBetterThanTheBound() {
    int bettered = 0;
    for (int i = 0; i < 3000; i++) {
      int pools = 1 + random.nextInt(2);
      List<Bid> bids = Bids.random(1 + random.nextInt(10), pools, 8, random);
      int[] capacity = capacity(pools);
      double best = divide(bids, capacity, EXACT).value();
      double last = 0;
      for (double budget : new double[] {0, 100, 1000, 10_000, EXACT}) {
        Shares.Given given = divide(bids, capacity, budget);
        assertThat(given.value()).as("case %d", i).isGreaterThanOrEqualTo(last - ROUNDING);
        assertThat(given.bound()).as("case %d", i).isGreaterThanOrEqualTo(best - ROUNDING);
        last = given.value();
      }
      bettered += best > divide(bids, capacity, 0).value() + ROUNDING ? 1 : 0;
    }
    assertThat(bettered).as("cases in which budget helped").isGreaterThan(100);
  }

  @Test
  void moreSlotsAreNeverWorse() {
    for (int i = 0; i < 3000; i++) {
      int pools = 1 + random.nextInt(2);
      List<Bid> bids = Bids.random(1 + random.nextInt(10), pools, 8, random);
      int[] capacity = capacity(pools);
      int[] more = capacity.clone();
      more[random.nextInt(pools)] += 1 + random.nextInt(8);
      assertThat(divide(bids, more, EXACT).value())
          .as("case %d", i)
          .isGreaterThanOrEqualTo(divide(bids, capacity, EXACT).value() - ROUNDING);
    }
  }

  @Test
  void agreesWithTryingEverything() {
    for (int i = 0; i < 500; i++) {
      int pools = 1 + random.nextInt(2);
      List<Bid> bids = Bids.random(1 + random.nextInt(5), pools, 6, random);
      int[] capacity = capacity(pools);
      assertThat(divide(bids, capacity, EXACT).value())
          .as("case %d", i)
          .isCloseTo(best(bids, 0, capacity), offset(ROUNDING));
    }
  }

  private static double best(List<Bid> bids, int from, int[] left) {
    if (from == bids.size()) {
      return 0;
    }
    double best = best(bids, from + 1, left);
    Bid bid = bids.get(from);
    for (int o = 0; o < bid.value.length; o++) {
      int pool = bid.offers.pool()[o];
      if (bid.offers.slots()[o] <= left[pool]) {
        int[] rest = left.clone();
        rest[pool] -= bid.offers.slots()[o];
        best = Math.max(best, bid.value[o] + best(bids, from + 1, rest));
      }
    }
    return best;
  }

  @Test
  void neverGivesMoreThanThereIs() {
    for (int i = 0; i < 3000; i++) {
      int pools = 1 + random.nextInt(3);
      List<Bid> bids = Bids.random(1 + random.nextInt(12), pools, 8, random);
      int[] left = capacity(pools);
      int[] offer = divide(bids, left.clone(), i % 2 == 0 ? 0 : EXACT).offer();
      for (int b = 0; b < offer.length; b++) {
        Offers offers = bids.get(b).offers;
        if (offer[b] >= 0) {
          left[offers.pool()[offer[b]]] -= offers.slots()[offer[b]];
        }
      }
      assertThat(left).as("case %d", i).matches(all -> Arrays.stream(all).allMatch(n -> n >= 0));
    }
  }
}
