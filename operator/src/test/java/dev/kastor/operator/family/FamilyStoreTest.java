package dev.kastor.operator.family;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.crds.trainingjob.GoodputSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobSpec;
import dev.kastor.operator.CrudServer;
import dev.kastor.operator.TestJobs;
import dev.kastor.operator.config.ConfiguredPolicy;
import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Progress;
import dev.kastor.protocol.StepProfile;
import dev.kastor.scheduler.estimate.Learner;
import dev.kastor.scheduler.estimate.RememberedFamily;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

final class FamilyStoreTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private final KubernetesMockServer server = CrudServer.start();
  private final KubernetesClient client = server.createClient();
  private Instant now = START;

  @AfterEach
  void stop() {
    client.close();
    server.destroy();
  }

  /** A store as a new operator has it. */
  private FamilyStore store() {
    OperatorConfig config =
        new SmallRyeConfigBuilder()
            .withMapping(OperatorConfig.class)
            .addDefaultInterceptors()
            .addDiscoveredConverters()
            .withValidateUnknown(false)
            .withDefaultValues(Map.of("kastor.agent.image", "agent:1"))
            .build()
            .getConfigMapping(OperatorConfig.class);
    return new FamilyStore(
        client, config, ConfiguredPolicy.of(config, ConfiguredPolicy.known(config)), () -> now);
  }

  private static TrainingJob job(String name, @Nullable String family) {
    TrainingJob job = TestJobs.job(name, 1, 8, GoodputSpec.Mode.Adaptive);
    TrainingJobSpec spec = job.getSpec();
    job.setSpec(
        new TrainingJobSpec(
            spec.suspend(),
            spec.queue(),
            spec.priority(),
            family,
            spec.elastic(),
            spec.goodput(),
            spec.checkpoint(),
            spec.faultTolerance(),
            spec.program()));
    return job;
  }

  private void teach(Learner learner, int replicas) {
    learner.observe(new StepProfile(1, replicas, 32, 10, 0.1, 0.01), now);
    learner.observe(new GradientStats(1, 8, 32), new Progress(10, 10, 100, 320, 0), now);
    learner.finished(new Progress(100, 100, 100, 3200, 1), now);
  }

  private @Nullable String stored() {
    ConfigMap found =
        client.configMaps().inNamespace(client.getNamespace()).withName(FamilyStore.NAME).get();
    return found == null ? null : found.getData().get(FamilyStore.KEY);
  }

  private void store(String text) {
    client
        .configMaps()
        .resource(
            new ConfigMapBuilder()
                .withNewMetadata()
                .withNamespace(client.getNamespace())
                .withName(FamilyStore.NAME)
                .endMetadata()
                .withData(Map.of(FamilyStore.KEY, text))
                .build())
        .create();
  }

  @Tag("slow")
  @Test
  void whatWasLearntSurvivesARestart() {
    FamilyStore before = store();
    before.read();
    Learner teacher = before.learner(job("first", "resnet"));
    teach(teacher, 4);
    before.write();
    FamilyStore after = store();
    after.read();
    Learner learner = after.learner(job("second", "resnet"));
    assertThat(learner.model(now)).isEqualTo(before.learner(job("third", "resnet")).model(now));
    assertThat(learner.model(now)).isPresent();
    assertThat(learner.maxProfiledReplicas()).isEqualTo(4);
    assertThat(learner.outlook(now).finishedSteps()).containsExactly(100.0);
    assertThat(learner.outlook(now).noise().orElseThrow().noiseScale(0.1))
        .isCloseTo(256, within(1e-9));
  }

  @Test
  void aFamilyIsDeclaredElseImageAndProgramOfOneNamespace() {
    FamilyStore families = store();
    families.read();
    teach(families.learner(job("first", "resnet")), 4);
    teach(families.learner(job("second", null)), 2);
    families.write();
    assertThat(FamilyCodec.read(Objects.requireNonNull(stored()), fault -> {}))
        .extracting(RememberedFamily::name)
        .containsExactly("team/resnet", "team/agent:1 glyph-mlp");
    TrainingJob foreign = job("third", "resnet");
    foreign.getMetadata().setNamespace("other");
    assertThat(families.learner(foreign).model(now)).isEmpty();
    assertThat(families.learner(job("fourth", null)).model(now)).isPresent();
  }

  @Tag("slow")
  @Test
  void itIsWrittenAtMostTwiceAMinuteAndOnlyWhenSomethingChanged() {
    FamilyStore families = store();
    families.read();
    teach(families.learner(job("first", "resnet")), 4);
    now = START.plusSeconds(29);
    families.writeIfDue();
    assertThat(stored()).isNull();
    now = START.plusSeconds(30);
    families.writeIfDue();
    assertThat(stored()).contains("team/resnet");
    client.configMaps().inNamespace(client.getNamespace()).withName(FamilyStore.NAME).delete();
    now = START.plusSeconds(61);
    families.writeIfDue();
    assertThat(stored()).as("nothing has changed").isNull();
    teach(families.learner(job("second", "bert")), 4);
    families.writeIfDue();
    assertThat(stored()).as("it is too soon").isNull();
    families.write();
    assertThat(stored()).contains("team/resnet").contains("team/bert");
  }

  @Test
  void whatIsMalformedIsIgnored() {
    store("{\"schema\": \"kastor.dev/families/v1\", \"families\": [{\"name\": 7}]}");
    FamilyStore families = store();
    families.read();
    teach(families.learner(job("first", "resnet")), 4);
    families.write();
    assertThat(FamilyCodec.read(Objects.requireNonNull(stored()), fault -> {})).hasSize(1);
  }

  @Tag("slow")
  @Test
  void whatCannotBeReadIsNotOverwritten() {
    store("{\"schema\": \"kastor.dev/families/v1\", \"families\": []}");
    server
        .expect()
        .get()
        .withPath(
            "/api/v1/namespaces/%s/configmaps/%s"
                .formatted(client.getNamespace(), FamilyStore.NAME))
        .andReturn(403, "{}")
        .times(2);
    FamilyStore families = store();
    families.read();
    teach(families.learner(job("first", "resnet")), 4);
    families.write();
    assertThat(stored()).doesNotContain("resnet");
    families.write();
    assertThat(stored()).contains("resnet");
  }
}
