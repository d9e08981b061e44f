package dev.kastor.operator.api;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.metrics.Metrics;
import dev.kastor.scheduler.model.JobId;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("never-retried")
final class QuarantineTest {
  private static final int MOST = 20;
  private static final JobId JOB = new JobId("team", "hostile");

  private Instant now = Instant.parse("2026-01-01T00:00:00Z");

  private Quarantine quarantine(int most) {
    OperatorConfig config =
        new SmallRyeConfigBuilder()
            .withMapping(OperatorConfig.class)
            .addDefaultInterceptors()
            .addDiscoveredConverters()
            .withValidateUnknown(false)
            .withDefaultValues(Map.of("kastor.agent.bad-reports-per-minute", "" + most))
            .build()
            .getConfigMapping(OperatorConfig.class);
    return new Quarantine(new Metrics(), config, () -> now);
  }

  private static void bad(Quarantine quarantine, int reports) {
    for (int i = 0; i < reports; i++) {
      quarantine.bad(JOB, "no report");
    }
  }

  private static void isHeard(Quarantine quarantine, JobId job) {
    assertThatCode(() -> quarantine.admit(job)).doesNotThrowAnyException();
  }

  private static void isNotHeard(Quarantine quarantine) {
    assertThatThrownBy(() -> quarantine.admit(JOB))
        .isInstanceOf(ApiException.class)
        .hasMessageContaining("job team/hostile sent too many bad reports");
  }

  @Test
  void oneTooManyWithinAMinuteAndTheJobIsNotHeardUntilTheNextMinuteIsOver() {
    Quarantine quarantine = quarantine(MOST);
    bad(quarantine, MOST);
    isHeard(quarantine, JOB);
    now = now.plusSeconds(59);
    bad(quarantine, 1);
    isNotHeard(quarantine);
    isHeard(quarantine, new JobId("team", "other"));
    now = now.plusSeconds(60);
    isNotHeard(quarantine);
    now = now.plusSeconds(1);
    isHeard(quarantine, JOB);
    bad(quarantine, MOST);
    isHeard(quarantine, JOB);
  }

  @Test
  void asManyInEveryMinuteAreBorne() {
    Quarantine quarantine = quarantine(MOST);
    for (int minute = 0; minute < 100; minute++) {
      bad(quarantine, MOST);
      isHeard(quarantine, JOB);
      now = now.plus(Duration.ofMinutes(1));
    }
  }

  @Test
  void withoutALimitAllAreHeard() {
    Quarantine quarantine = quarantine(0);
    bad(quarantine, 10_000);
    isHeard(quarantine, JOB);
  }
}
