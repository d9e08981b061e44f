package dev.kastor.scheduler.policy.kastor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Offset.offset;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.TestJob;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Reasons of a round whose bids and values are made by hand: eight GPUs on two nodes. */
final class ExplanationsTest {
  private static final Pools POOLS =
      Pools.of(List.of(new Node("n0", "a", 4), new Node("n1", "a", 4)), TestOptions.USUAL);
  private static final double[] PRICE = {0.5};

  /** A bid for 1, 2 or 4 slots at rates of 10, 18 and 30. */
  private static Bid bid(int index, JobState job, double... value) {
    Offers offers = new Offers(new int[3], new int[] {1, 2, 4}, new double[] {10, 18, 30}, 30);
    Bid bid =
        new Bid(index, job, offers, offers.find(0, job.allocation().replicas()), 600, true, 1);
    System.arraycopy(value, 0, bid.value, 0, value.length);
    return bid;
  }

  private static TestJob job(String name) {
    return TestJob.job(name).rescaleCost(Duration.ofSeconds(45));
  }

  private static Reason why(List<Bid> bids, int index, Allocation... allocations) {
    Shares.Given given = new Shares.Given(new int[bids.size()], 9, 10);
    return new Explanations(bids, allocations, PRICE, given, POOLS, Map.of())
        .of(bids.get(index), allocations[index]);
  }

  @ParameterizedTest
  @CsvSource({"0, 2, Started", "1, 4, Grown", "4, 1, Shrunk", "2, 0, Stopped", "0, 0, Waiting"})
  void nameTheChange(int before, int after, String code) {
    TestJob job = job("a");
    JobState state = (before == 0 ? job : job.on("n0", before)).build();
    Allocation given = after == 0 ? Allocation.NONE : Allocation.on("n0", after);
    assertThat(why(List.of(bid(0, state, 1, 1.5, 2)), 0, given).code()).isEqualTo(code);
  }

  @Test
  void nameWhatStaysAndWhatMoves() {
    Bid bid = bid(0, job("a").on("n0", 2).build(), 1, 1.5, 2);
    assertThat(why(List.of(bid), 0, Allocation.on("n0", 2)).code()).isEqualTo("Kept");
    assertThat(why(List.of(bid), 0, Allocation.on("n1", 2)).code()).isEqualTo("Moved");
    Bid pinned = bid(0, job("a").on("n0", 2).pinned().build(), 1, 1.5, 2);
    assertThat(why(List.of(pinned), 0, Allocation.on("n0", 2)).code()).isEqualTo("Pinned");
  }

  /** From 4 to 1, of a job that may have 8, or whose maximum was set to 2. */
  @ParameterizedTest
  @CsvSource({
    "8, false, It gained too little from the GPUs that it gave back.",
    "8, true, Others gain more from its GPUs. Next in line for them: test/b.",
    "2, true, Its maximum of replicas is 2 now."
  })
  void sayWhyAJobShrinks(int most, boolean contended, String message) {
    Bid bid = bid(0, job("a").replicas(1, most).on("n0", 4).build(), 1, 1.5, 2);
    Bid other = bid(1, job("b").build(), 3, 4, 5);
    assertThat(
            contended
                ? why(List.of(bid, other), 0, Allocation.on("n0", 1), Allocation.NONE).message()
                : why(List.of(bid), 0, Allocation.on("n0", 1)).message())
        .isEqualTo(message);
  }

  @Test
  void sayThatANodeIsGone() {
    Bid bid = bid(0, job("a").on("lost", 2).build(), 1, 1.5, 2);
    Reason reason = why(List.of(bid), 0, Allocation.on("n1", 2));
    assertThat(reason.code()).isEqualTo("Moved");
    assertThat(reason.message()).contains("gone");
  }

  @Test
  void sayWhatAJobGainsAndWhatItCosts() {
    Bid bid = bid(0, job("a").on("n0", 1).build(), 1, 1.5, 2);
    assertThat(why(List.of(bid), 0, Allocation.on("n0", 4)).numbers())
        .containsEntry("goodput", 30.0)
        .containsEntry("goodputBefore", 10.0)
        .containsEntry("remainingSeconds", 600.0)
        .containsEntry("value", 2.0)
        .containsEntry("pauseSeconds", 45.0)
        .containsEntry("pricePerSlot", 0.5)
        .hasEntrySatisfying("planBelowBound", gap -> assertThat(gap).isCloseTo(0.1, offset(1e-9)));
  }

  /** Offers are 1, 2 and 4 slots: from 1 to 2 it would gain 0.5; 4 is the most it may have. */
  @Test
  void sayWhatMoreWouldBeWorth() {
    Bid bid = bid(0, job("a").on("n0", 1).build(), 1, 1.5, 2);
    assertThat(why(List.of(bid), 0, Allocation.on("n0", 1)).numbers())
        .containsEntry("moreSlots", 1.0)
        .containsEntry("bidPerMoreSlot", 0.5);
    assertThat(why(List.of(bid), 0, Allocation.on("n0", 4)).numbers())
        .doesNotContainKey("moreSlots");
  }

  @Test
  void sayWhatOneWhoWaitsBid() {
    Bid bid = bid(0, job("a").build(), 0.4, 0.5, 0.6);
    assertThat(why(List.of(bid), 0, Allocation.NONE).numbers())
        .containsEntry("leastSlots", 1.0)
        .containsEntry("bidPerSlot", 0.4)
        .containsEntry("pricePerSlot", 0.5);
  }

  /** For each further slot b would have had 0.9 to gain (a waiting job), c (2.6 - 2) / 2 = 0.3. */
  @Test
  void nameTheJobThatWouldHaveGainedMost() {
    List<Bid> bids =
        List.of(
            bid(0, job("a").build(), 3, 4, 5),
            bid(1, job("b").build(), 0.9, 1, 1.1),
            bid(2, job("c").on("n1", 2).build(), 1, 2, 2.6));
    Allocation[] given = {Allocation.on("n0", 4), Allocation.NONE, Allocation.on("n1", 2)};
    Reason reason = why(bids, 0, given);
    assertThat(reason.message()).contains("test/b");
    assertThat(reason.numbers()).containsEntry("nextInLinePerSlot", 0.9);
  }

  /** a itself would have gained most from more; of the others it is b. */
  @Test
  void nameTheNextAfterTheJobItself() {
    List<Bid> bids =
        List.of(
            bid(0, job("a").build(), 3, 10, 20),
            bid(1, job("b").build(), 0.9, 1, 1.1),
            bid(2, job("c").build(), 0.5, 0.6, 0.7));
    Allocation[] given = {Allocation.on("n0", 2), Allocation.NONE, Allocation.NONE};
    assertThat(why(bids, 0, given).message()).contains("test/b");
  }

  @Test
  void sayThatNobodyElseWantedThem() {
    List<Bid> bids = List.of(bid(0, job("a").build(), 3, 4, 5));
    assertThat(why(bids, 0, Allocation.on("n0", 4)).message()).contains("Nobody else");
  }
}
