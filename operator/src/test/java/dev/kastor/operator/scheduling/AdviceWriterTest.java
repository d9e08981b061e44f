package dev.kastor.operator.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.GoodputSpec;
import dev.kastor.operator.CrudServer;
import dev.kastor.operator.TestJobs;
import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.mapping.JobMapper;
import dev.kastor.operator.metrics.Metrics;
import dev.kastor.scheduler.goodput.Measured;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Snapshot;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class AdviceWriterTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private final KubernetesMockServer server = CrudServer.start();
  private final KubernetesClient client = server.createClient();

  @AfterEach
  void stop() {
    client.close();
    server.destroy();
  }

  private static StandingAdvice advice(String rules) {
    OperatorConfig config =
        new SmallRyeConfigBuilder()
            .withMapping(OperatorConfig.class)
            .addDefaultInterceptors()
            .addDiscoveredConverters()
            .withValidateUnknown(false)
            .withDefaultValues(Map.of("kastor.node-advice", rules))
            .build()
            .getConfigMapping(OperatorConfig.class);
    return new StandingAdvice(config, new Metrics());
  }

  /** A job that needs six slots, and so many nodes of four. */
  private static Snapshot seen(int minute, int nodes) {
    JobState gang =
        JobMapper.state(
            TestJobs.job("bert", 6, 6, GoodputSpec.Mode.Fixed),
            null,
            Measured.NOTHING,
            true,
            false,
            START);
    List<Node> all = List.of(new Node("n1", "t4", 4), new Node("n2", "t4", 4));
    return new Snapshot(START.plusSeconds(60L * minute), all.subList(0, nodes), List.of(gang));
  }

  private @Nullable ConfigMap stored() {
    return client.configMaps().inNamespace(client.getNamespace()).withName(AdviceWriter.NAME).get();
  }

  @Test
  void leavesTheNewestAdviceInTheCluster() {
    StandingAdvice advice = advice("0.5:0.8:1-4");
    AdviceWriter writer = new AdviceWriter(client, advice);
    writer.writeIfChanged();
    assertThat(stored()).as("before there is any").isNull();
    advice.observe(seen(0, 1));
    writer.writeIfChanged();
    assertThat(stored())
        .satisfies(map -> assertThat(map.getData().get("t4")).contains("should become 2"));
    advice.observe(seen(1, 2));
    writer.writeIfChanged();
    assertThat(stored()).satisfies(map -> assertThat(map.getData().get("t4")).contains("stay"));
  }

  @Test
  void takesBackWhatAnEarlierOperatorAdvised() {
    StandingAdvice wanted = advice("0.5:0.8:1-4");
    wanted.observe(seen(0, 1));
    new AdviceWriter(client, wanted).writeIfChanged();
    new AdviceWriter(client, advice("")).writeIfChanged();
    assertThat(stored())
        .satisfies(map -> assertThat(map.getData() == null || map.getData().isEmpty()).isTrue());
  }
}
