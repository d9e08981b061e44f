package dev.kastor.scheduler.policy.kastor;

import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.TestJob;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** Bids whose numbers a test knows. */
final class Bids {
  private Bids() {}

  /** Any of these sizes in the first pool, at a rate of {@code slots^scaling}. */
  static Bid scaling(int index, double scaling, int... slots) {
    double[] rate = IntStream.of(slots).mapToDouble(size -> Math.pow(size, scaling)).toArray();
    Offers offers = new Offers(new int[slots.length], slots, rate, rate[rate.length - 1]);
    return new Bid(index, job(index), offers, -1, 3600, true, 1);
  }

  /** All sizes up to this. */
  static int[] upTo(int most) {
    return IntStream.rangeClosed(1, most).toArray();
  }

  /** Offers of random sizes and values in random pools. */
  static List<Bid> random(int count, int pools, int mostSlots, SplittableRandom random) {
    List<Bid> bids = new ArrayList<>();
    for (int b = 0; b < count; b++) {
      int offers = 1 + random.nextInt(6);
      int[] pool = new int[offers];
      int[] slots = new int[offers];
      double[] rate = new double[offers];
      for (int o = 0; o < offers; o++) {
        pool[o] = random.nextInt(pools);
        slots[o] = 1 + random.nextInt(mostSlots);
        rate[o] = random.nextDouble(1, 10);
      }
      Bid bid = new Bid(b, job(b), new Offers(pool, slots, rate, 10), -1, 3600, true, 1);
      for (int o = 0; o < offers; o++) {
        bid.value[o] = rate[o];
      }
      bids.add(bid);
    }
    return bids;
  }

  private static JobState job(int index) {
    return TestJob.job("job-%02d".formatted(index)).build();
  }
}
