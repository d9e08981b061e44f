package dev.kastor.paper.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.simulator.replay.DecisionTimes;
import dev.kastor.simulator.replay.Mode;
import dev.kastor.simulator.replay.Replay;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The fixed cluster that is as fast lies between those that were replayed. */
final class CloudPriceTest {
  private static Replay replay(double seconds, double money) {
    return new Replay(
        "pollux",
        "one",
        Mode.EVENTS,
        1,
        List.of(new Replay.Completed("a", "imagenet", 0, 0, seconds, 0, 0)),
        0,
        new DecisionTimes(0, 0, 0, 0),
        List.of(),
        money);
  }

  @Tag("slow")
  @ParameterizedTest
  @CsvSource({"100, 50", "150, 40", "200, 30", "400, 20", "50, 50", "900, 20"})
  void isInterpolated(double seconds, double money) {
    List<Replay> fixed = List.of(replay(100, 50), replay(200, 30), replay(400, 20));
    assertThat(CloudPrice.price(fixed, seconds)).isEqualTo(money);
  }
}
