package dev.kastor.operator.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.policy.PolicyFactory;
import dev.kastor.scheduler.policy.PolicyPlugin;
import dev.kastor.testkit.SourceJar;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfiguredPolicyTest {
  @TempDir private Path folder;

  private static PolicyFactory policy(Map<String, String> settings) {
    OperatorConfig config =
        new SmallRyeConfigBuilder()
            .withMapping(OperatorConfig.class)
            .addDefaultInterceptors()
            .addDiscoveredConverters()
            .withSources(new PropertiesConfigSource(settings, "test", 100))
            .build()
            .getConfigMapping(OperatorConfig.class);
    return ConfiguredPolicy.of(config, ConfiguredPolicy.known(config));
  }

  @Test
  void isKastorsOwnWhereNothingIsSet() {
    assertThat(policy(Map.of()).name()).isEqualTo("kastor");
  }

  @Test
  void takesOptions() {
    assertThat(
            policy(Map.of("kastor.policy", "kastor:interruptionsPerDay=3:jobHourValue=12.50"))
                .name())
        .isEqualTo("kastor:jobHourValue=12.5:interruptionsPerDay=3");
  }

  @Test
  void refusesWhatCannotBe() {
    assertThatThrownBy(() -> policy(Map.of("kastor.policy", "kastor:jobHourValue=-1")))
        .hasMessageContaining("kastor.policy: policy kastor: jobHourValue must be a number above 0")
        .hasMessageContaining("'-1'");
    assertThatThrownBy(() -> policy(Map.of("kastor.policy", "kastor:jobHourWorth=1")))
        .hasMessageContaining("has no option 'jobHourWorth'. Use one of: hold, ");
    assertThatThrownBy(() -> policy(Map.of("kastor.policy", "best")))
        .hasMessageContaining("there is no policy 'best'. Use one of: kastor, pollux, ");
  }

  @Tag("slow")
  @Test
  void findsThePolicyOfAJar() throws Exception {
    SourceJar.ofExample(folder, "policy", PolicyPlugin.class);
    PolicyFactory own =
        policy(
            Map.of(
                "kastor.plugins",
                folder.toString(),
                "kastor.policy",
                "smallest-first:patience=60"));
    assertThat(own.name()).isEqualTo("smallest-first:patience=60");
    assertThat(own.create().plan(new Snapshot(Instant.EPOCH, List.of(), List.of())).assignments())
        .isEmpty();
    assertThatThrownBy(() ->
            policy(
                Map.of(
                    "kastor.plugins",
                    folder.toString(),
                    "kastor.policy",
                    "smallest-first:speed=1")))
        .hasMessageContaining("Use one of: patience");
  }

  @Tag("slow")
  @Test
  void namesAJarThatCannotBeUsed() throws Exception {
    Path source =
        Files.writeString(folder.resolve("Present.java"), "public final class Present {}");
    SourceJar.make(
        folder.resolve("own.jar"),
        List.of(source),
        PolicyPlugin.class.getName(),
        List.of("Absent"));
    assertThatThrownBy(() -> policy(Map.of("kastor.plugins", folder.toString())))
        .hasMessageContaining("kastor.plugins: plug-ins in " + folder)
        .hasMessageContaining("Absent");
  }
}
