package dev.kastor.scheduler.policy.kastor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Offset.offset;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Prices against those worked out by hand for jobs that scale as {@code r^p}.
 *
 * <p>A job that delays a share {@code d} of all at a price {@code x} chooses {@code r* = p / ((1 -
 * p) d x)} for its life, so that its progress is worth {@code r*^-p / (1 - p)}; today it then wants
 * {@code p / ((1 - p) x) d^(p / (1 - p))} slots. With {@code d = i / m} and p = 1/2 these are
 * {@code i / (m x)}, which add up to the {@code g} slots at {@code x = (m + 1) / (2 g)}.
 */
final class PricesTest {
  private static List<Bid> ranked(int count, int slots) {
    List<Bid> bids = new ArrayList<>();
    for (int i = 1; i <= count; i++) {
      Bid bid = Bids.scaling(i - 1, 0.5, Bids.upTo(slots));
      bid.delays = (double) i / count;
      bids.add(bid);
    }
    return bids;
  }

  private static double[] clear(List<Bid> bids, int slots) {
    return new Prices(bids, new int[] {slots}, new double[1], true).clear();
  }

  /** Slots that each bid wants at the prices that clear the market. */
  private static int[] wanted(List<Bid> bids, double[] price) {
    return bids.stream()
        .mapToInt(bid -> {
          for (int o = 0; o < bid.value.length; o++) {
            bid.value[o] = bid.worth * bid.offers.rate()[o];
          }
          int best = Shares.best(bid, price);
          return best < 0 ? 0 : bid.offers.slots()[best];
        })
        .toArray();
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 5, 10})
  void clearAtTheClosedForm(int jobs) {
    int slots = 600;
    double expected = (jobs + 1) / (2.0 * slots);
    assertThat(clear(ranked(jobs, slots), slots)[0]).isCloseTo(expected, offset(0.02 * expected));
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 5, 10})
  void divideSlotsAsRanksAre(int jobs) {
    int slots = 600;
    List<Bid> bids = ranked(jobs, slots);
    int[] wanted = wanted(bids, clear(bids, slots));
    for (int i = 1; i <= jobs; i++) {
      double share = 2.0 * i / (jobs * (jobs + 1));
      assertThat((double) wanted[i - 1] / slots).isCloseTo(share, offset(0.01));
    }
  }

  /**
   * heSRPT gives the i-th longest of m a share of {@code (i / m)^2 - ((i - 1) / m)^2} at p = 1/2.
   */
  @ParameterizedTest
  @ValueSource(ints = {2, 3, 5, 10})
  void comeCloseToTheSharesOfHeSrpt(int jobs) {
    int slots = 600;
    List<Bid> bids = ranked(jobs, slots);
    int[] wanted = wanted(bids, clear(bids, slots));
    for (int i = 1; i <= jobs; i++) {
      double share = Math.pow((double) i / jobs, 2) - Math.pow((i - 1.0) / jobs, 2);
      assertThat((double) wanted[i - 1] / slots)
          .isCloseTo(share, offset(1.0 / (jobs * jobs) + 0.01));
    }
  }

  @Test
  void areNothingWhereAllThatIsWantedFits() {
    List<Bid> bids = List.of(Bids.scaling(0, 0.5, 1, 2, 4), Bids.scaling(1, 0.5, 1, 2, 4));
    double[] price = clear(bids, 8);
    assertThat(price).containsExactly(0);
    assertThat(wanted(bids, price)).containsExactly(4, 4);
  }

  @Test
  void letAJobAloneHaveItsBestSize() {
    Bid alone = Bids.scaling(0, 0.5, 1, 2, 4, 8);
    assertThat(wanted(List.of(alone), clear(List.of(alone), 8))).containsExactly(8);
    // More than four would be slower.
    Offers offers =
        new Offers(new int[4], new int[] {1, 2, 4, 8}, new double[] {1, 1.8, 2.5, 2.1}, 2.5);
    Bid stubborn = new Bid(0, alone.job, offers, -1, 3600, true, 1);
    assertThat(wanted(List.of(stubborn), clear(List.of(stubborn), 8))).containsExactly(4);
  }

  @Test
  void riseWithScarcity() {
    double last = Double.POSITIVE_INFINITY;
    for (int slots : new int[] {10, 20, 40, 80}) {
      double price = clear(ranked(5, 100), slots)[0];
      assertThat(price).isLessThan(last);
      last = price;
    }
  }

  @Test
  void makeAJobWorthWhatItsLifeCosts() {
    // Alone at price x it would choose r = 1 / x for life: worth 2 x^0.5 seconds an example.
    List<Bid> bids = ranked(2, 600);
    double price = clear(bids, 600)[0];
    assertThat(bids.get(1).worth).isCloseTo(2 * Math.sqrt(price), offset(0.001));
    assertThat(bids.get(0).worth).isCloseTo(2 * Math.sqrt(price / 2), offset(0.001));
  }
}
