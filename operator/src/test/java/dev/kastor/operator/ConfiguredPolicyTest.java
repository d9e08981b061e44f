package dev.kastor.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.scheduler.policy.kastor.KastorOptions;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ConfiguredPolicyTest {
  private static OperatorConfig config(Map<String, String> settings) {
    return new SmallRyeConfigBuilder()
        .withMapping(OperatorConfig.class)
        .addDefaultInterceptors()
        .addDiscoveredConverters()
        .withSources(new PropertiesConfigSource(settings, "test", 100))
        .build()
        .getConfigMapping(OperatorConfig.class);
  }

  @Test
  void isTheUsualOneWhereNothingIsSet() {
    assertThat(ConfiguredPolicy.options(config(Map.of()))).isEqualTo(KastorOptions.DEFAULT);
    assertThat(ConfiguredPolicy.options(config(Map.of("kastor.job-hour-value", ""))))
        .isEqualTo(KastorOptions.DEFAULT);
    assertThat(ConfiguredPolicy.of(config(Map.of())).name()).isEqualTo("kastor");
  }

  @Test
  void knowsWhatTimeIsWorthAndHowLongSpotNodesLive() {
    Map<String, String> settings =
        Map.of("kastor.job-hour-value", "12.5", "kastor.interruptions-per-day", "3");
    assertThat(ConfiguredPolicy.options(config(settings)))
        .isEqualTo(KastorOptions.DEFAULT.withJobHourValue(12.5).withInterruptionsPerDay(3));
  }

  @Test
  void refusesWhatCannotBe() {
    assertThatThrownBy(() -> ConfiguredPolicy.of(config(Map.of("kastor.job-hour-value", "-1"))))
        .hasMessageContaining("jobHourValue (-1.0) must be above 0");
  }
}
