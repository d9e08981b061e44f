package dev.kastor.operator.nodehealth;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class SilenceTest {
  private static final Duration LIMIT = Duration.ofSeconds(12);
  private static final Instant NOW = Instant.parse("2026-01-01T00:01:00Z");

  private final Map<String, Instant> heard = new HashMap<>();
  private final Map<String, Instant> leases = new HashMap<>();
  private final Set<String> unready = new HashSet<>();
  private final Set<String> asked = new HashSet<>();
  private final Map<String, Instant> before = new HashMap<>();

  private Silence look() {
    return Silence.of(
        before,
        heard,
        node -> !unready.contains(node),
        node -> {
          asked.add(node);
          return Optional.ofNullable(leases.get(node));
        },
        LIMIT,
        LIMIT,
        NOW);
  }

  private static Instant ago(int seconds) {
    return NOW.minusSeconds(seconds);
  }

  @Test
  void aNodeWhoseReplicasAndKubeletAreSilentIsLost() {
    heard.put("n1", ago(12));
    leases.put("n1", ago(12));
    assertThat(look().lost()).containsOnlyKeys("n1");
  }

  @Test
  void aNodeWhoseReplicasSpeakIsNotWhateverItsKubeletDoes() {
    heard.put("n1", ago(11));
    unready.add("n1");
    assertThat(look().lost()).isEmpty();
    assertThat(look().answering()).containsExactly("n1");
    assertThat(asked).as("no lease is read for those that speak").isEmpty();
  }

  @Test
  void aNodeWhoseKubeletSpeaksIsNotLostThoughItsReplicasHang() {
    heard.put("n1", ago(60));
    leases.put("n1", ago(9));
    assertThat(look().lost()).isEmpty();
    assertThat(look().answering()).isEmpty();
  }

  @Test
  void withoutALeaseTheConditionDecides() {
    heard.put("n1", ago(60));
    assertThat(look().lost()).isEmpty();
    unready.add("n1");
    assertThat(look().lost()).containsOnlyKeys("n1");
  }

  @Test
  void aLostNodeWhoseReplicasWereMadeElsewhereStaysLostUntilItsKubeletSpeaks() {
    before.put("n1", ago(12));
    assertThat(look().lost()).as("its lease cannot be read").containsOnlyKeys("n1");
    leases.put("n1", ago(12));
    assertThat(look().lost()).containsExactly(Map.entry("n1", ago(12)));
    leases.put("n1", ago(1));
    assertThat(look().lost()).isEmpty();
    unready.add("n1");
    assertThat(look().lost()).containsOnlyKeys("n1");
  }

  @Test
  void aLostNodeIsBackWhereItsKubeletSpeaksThoughItsClockIsWrong() {
    before.put("n1", ago(600));
    leases.put("n1", ago(590));
    assertThat(look().lost()).isEmpty();
  }

  @Test
  void aLostNodeIsBackWhereAReplicaSpeaks() {
    before.put("n1", ago(12));
    leases.put("n1", ago(12));
    heard.put("n1", ago(1));
    assertThat(look().lost()).isEmpty();
    heard.put("n1", ago(13));
    assertThat(look().lost()).containsOnlyKeys("n1");
  }

  @Test
  void silenceCountsFromTheEndOfTrouble() {
    // The watch puts the end of an outage in place of what was heard before it.
    heard.put("n1", ago(2));
    leases.put("n1", ago(300));
    assertThat(look().lost()).isEmpty();
  }
}
