package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.agent.ring.Crew;
import dev.kastor.agent.ring.Ring;
import dev.kastor.agent.ring.RingListener;
import dev.kastor.agent.ring.SlowLink;
import dev.kastor.engine.collective.Collectives;
import dev.kastor.engine.optim.AdaScale;
import dev.kastor.engine.program.TrainingMethod;
import dev.kastor.engine.tensor.Layout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Times of sums between nodes whose links carry 100 Mbit/s each way. */
@Tag("nightly") // a benchmark of wall-clock time: CollectiveContractTest counts the bytes
@Tag("timing")
final class CollectiveTimesTest {
  private static final double BYTES_PER_SECOND = 12.5e6;
  private static final int FLOATS = 1_000_000;
  private static final int WARM_UPS = 2;
  private static final int TIMES = 5;

  /** By bytes alone the gains are 1.5 and 1.75. */
  @ParameterizedTest
  @CsvSource({"aabb,1.25", "aaaabbbb,1.35"})
  void fewerBytesBetweenNodesTakeLessTime(String place, double leastGain) throws Exception {
    double[] ring = seconds("ring", place);
    double[] hierarchical = seconds("hierarchical", place);
    assertThat(ring[TIMES / 2] / hierarchical[TIMES / 2])
        .as(
            "%s; ring %s, hierarchical %s",
            place, Arrays.toString(ring), Arrays.toString(hierarchical))
        .isGreaterThan(leastGain);
  }

  /** By rank, of which those of the first rank of each node are used. */
  private static List<SlowLink> links(String place) {
    return place.chars().mapToObj(_ -> new SlowLink(BYTES_PER_SECOND)).toList();
  }

  /** Times of sums of 4 MB, in ascending order. */
  private static double[] seconds(String collective, String place) throws Exception {
    List<RingListener> listeners = new ArrayList<>();
    List<SlowLink> out = links(place);
    List<SlowLink> in = links(place);
    List<List<InetSocketAddress>> ways = new ArrayList<>();
    try (Crew crew = new Crew()) {
      for (int rank = 0; rank < place.length(); rank++) {
        listeners.add(Crew.listen());
      }
      for (int rank = 0; rank < place.length(); rank++) {
        int from = place.indexOf(place.charAt(rank));
        List<InetSocketAddress> way = new ArrayList<>();
        for (RingListener listener : listeners) {
          int to = place.indexOf(place.charAt(way.size()));
          InetSocketAddress address = Crew.address(listener);
          way.add(from == to ? address : out.get(from).to(in.get(to).to(address)));
        }
        ways.add(way);
      }
      double[] seconds =
          crew.together(
                  place.length(),
                  rank -> seconds(collective, place, listeners.get(rank), rank, ways.get(rank)))
              .getFirst();
      Arrays.sort(seconds);
      return seconds;
    } finally {
      for (RingListener listener : listeners) {
        listener.close();
      }
      for (SlowLink link : out) {
        link.close();
      }
      for (SlowLink link : in) {
        link.close();
      }
    }
  }

  private static double[] seconds(
      String collective,
      String place,
      RingListener listener,
      int rank,
      List<InetSocketAddress> members)
      throws Exception {
    TrainingSettings settings =
        new TrainingSettings(
            8,
            0.02,
            new AdaScale(),
            new Work.Steps(1),
            5,
            Duration.ofDays(1),
            Duration.ofDays(1),
            Features.collective(TrainingMethod.USUAL, Collectives.BUILT_IN.choose(collective)));
    float[] gradient = new float[FLOATS];
    double[] seconds = new double[TIMES];
    try (Ring ring = Ring.open(listener, 1, rank, members, Crew.LIMITS, () -> false);
        Exchanges.OfGeneration exchanges =
            new Exchanges(settings, Layout.of("all", FLOATS), gradient)
                .over(ring, place.chars().mapToObj(Character::toString).toList())) {
      for (int i = -WARM_UPS; i < TIMES; i++) {
        ring.allGather(new byte[0]);
        long start = System.nanoTime();
        exchanges.sum(gradient);
        if (i >= 0) {
          seconds[i] = (System.nanoTime() - start) * 1e-9;
        }
      }
      ring.allGather(new byte[0]);
    }
    return seconds;
  }
}
