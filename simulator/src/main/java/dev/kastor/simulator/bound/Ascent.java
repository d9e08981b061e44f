package dev.kastor.simulator.bound;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Prices of slots over time, raised where jobs ask for more than there is and lowered where they
 * ask for less, in steps that shrink (subgradient ascent with the moments of Adam: Kingma and Ba,
 * ICLR 2015). Owned by one thread, which shares its work out.
 */
final class Ascent {
  private static final double FIRST_MOMENT = 0.8;
  private static final double SECOND_MOMENT = 0.95;
  private static final double SHARE_OF_SCALE = 0.25;
  private static final double TINY = 1e-6;

  private final List<Kind> kinds;
  private final Pools pools;
  private final double slotSeconds;

  /** Size of a usual price. */
  private final double scale;

  private final double[][] price;
  private final double[][] first;
  private final double[][] second;
  private double best = Double.NEGATIVE_INFINITY;
  private double[][] bestPrice;

  Ascent(List<Kind> kinds, Pools pools, int slots, double slotSeconds) {
    this.kinds = kinds;
    this.pools = pools;
    this.slotSeconds = slotSeconds;
    price = new double[pools.count()][slots];
    first = new double[pools.count()][slots];
    second = new double[pools.count()][slots];
    bestPrice = price;
    double alone = 0;
    for (Kind kind : kinds) {
      alone += kind.jobs() * kind.alone();
    }
    // As many jobs as run on average were nobody to wait, over the slots.
    scale = Math.max(TINY, 3 * alone / (slots * slotSeconds) / pools.all());
  }

  /** The largest bound so far, in seconds of all jobs. */
  double best() {
    return best;
  }

  /** Prices of a slot second, by pool and time slot, that give it. */
  double[][] prices() {
    return bestPrice;
  }

  void step(double length) {
    double[][] asked = Arrays.stream(price).map(double[]::clone).toArray(double[][]::new);
    double[][][] uses = new double[kinds.size()][pools.count()][price[0].length];
    double sum =
        IntStream.range(0, kinds.size())
            .parallel()
            .mapToObj(k -> kinds.get(k).answer(price, uses[k]))
            .toList()
            .stream()
            .mapToDouble(seconds -> seconds)
            .sum();
    for (int p = 0; p < price.length; p++) {
      for (int t = 0; t < price[p].length; t++) {
        double has = pools.capacity()[p];
        sum -= has * price[p][t] * slotSeconds;
        double over = -has;
        for (double[][] use : uses) {
          over += use[p][t];
        }
        move(p, t, over / has, length);
      }
    }
    if (sum > best) {
      best = sum;
      bestPrice = asked;
    }
  }

  private void move(int p, int t, double asked, double length) {
    first[p][t] = FIRST_MOMENT * first[p][t] + (1 - FIRST_MOMENT) * asked;
    second[p][t] = SECOND_MOMENT * second[p][t] + (1 - SECOND_MOMENT) * asked * asked;
    double by = first[p][t] / (Math.sqrt(second[p][t]) + TINY);
    price[p][t] = Math.max(0, price[p][t] + SHARE_OF_SCALE * scale * length * by);
  }
}
