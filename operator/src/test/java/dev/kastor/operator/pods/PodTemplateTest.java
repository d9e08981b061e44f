package dev.kastor.operator.pods;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.profile.ProfileSpec;
import dev.kastor.crds.trainingjob.GoodputSpec;
import dev.kastor.operator.TestJobs;
import dev.kastor.operator.config.OperatorConfig;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Run with {@code -Dkastor.golden.write=true} to rewrite the golden pod. */
class PodTemplateTest {
  private static final Path GOLDEN = Path.of("src/test/resources/golden/pod.yaml");

  @Test
  void makesTheGoldenPod() throws IOException {
    String made = Serialization.asYaml(pod(Map.of("kastor.agent.checkpoint-host-path", "/state")));
    if (Boolean.getBoolean("kastor.golden.write")) {
      Files.createDirectories(GOLDEN.getParent());
      Files.writeString(GOLDEN, made);
    }
    assertThat(GOLDEN).usingCharset(UTF_8).hasContent(made);
  }

  @Test
  void everyFileThatAVariableNamesIsBelowAMount() {
    Pod pod = pod(Map.of("kastor.agent.checkpoint-host-path", "/state"));
    var container = pod.getSpec().getContainers().getFirst();
    List<String> mounts =
        container.getVolumeMounts().stream().map(VolumeMount::getMountPath).toList();
    List<String> files =
        container.getEnv().stream()
            .filter(env -> env.getName().endsWith("_FILE") || env.getName().endsWith("_DIR"))
            .map(EnvVar::getValue)
            .toList();
    assertThat(files).hasSize(4);
    assertThat(files).allMatch(file -> mounts.stream().anyMatch(file::startsWith));
  }

  @Test
  void nothingInAParameterIsAReferenceToAVariable() {
    var job =
        TestJobs.job(
            "bert", 1, 4, GoodputSpec.Mode.Adaptive, Map.of("data", "/data/$(KASTOR_POD)/a$$b$"));
    String variable =
        template(Map.of())
            .pod(job, ProfileSpec.NONE, 7, new PodNode("n1", "host-1"))
            .getSpec()
            .getContainers()
            .getFirst()
            .getEnv()
            .stream()
            .filter(env -> env.getName().equals("KASTOR_JOB_SPEC"))
            .map(EnvVar::getValue)
            .findFirst()
            .orElseThrow();
    assertThat(variable).contains("\"/data/$$(KASTOR_POD)/a$$$$b$$\"");
  }

  @Test
  void jobsThatShareAClaimHaveFoldersOfTheirOwn() {
    Pod pod = pod(Map.of("kastor.agent.checkpoint-claim", "models"));
    assertThat(pod.getSpec().getVolumes().getLast().getPersistentVolumeClaim().getClaimName())
        .isEqualTo("models");
    assertThat(pod.getSpec().getContainers().getFirst().getVolumeMounts().getLast().getSubPath())
        .isEqualTo("bert-uid-of-bert");
  }

  private static Pod pod(Map<String, String> settings) {
    return template(settings)
        .pod(
            TestJobs.job("bert", 1, 4, GoodputSpec.Mode.Adaptive),
            ProfileSpec.NONE,
            7,
            new PodNode("n1", "host-1"));
  }

  private static PodTemplate template(Map<String, String> settings) {
    OperatorConfig config =
        new SmallRyeConfigBuilder()
            .withMapping(OperatorConfig.class)
            .addDefaultInterceptors()
            .addDiscoveredConverters()
            .withValidateUnknown(false)
            .withDefaultValues(settings)
            .withDefaultValue("kastor.agent.operator-url", "https://kastor:8443")
            .build()
            .getConfigMapping(OperatorConfig.class);
    return new PodTemplate(config);
  }
}
