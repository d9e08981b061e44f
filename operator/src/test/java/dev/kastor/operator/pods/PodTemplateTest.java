package dev.kastor.operator.pods;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.crds.profile.ProfileSpec;
import dev.kastor.crds.trainingjob.BatchSizeSpec;
import dev.kastor.crds.trainingjob.CheckpointSpec;
import dev.kastor.crds.trainingjob.ElasticSpec;
import dev.kastor.crds.trainingjob.GoodputSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobSpec;
import dev.kastor.crds.trainingjob.WarmStartSpec;
import dev.kastor.operator.TestJobs;
import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.testkit.GoldenFile;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.LocalObjectReference;
import io.fabric8.kubernetes.api.model.NodeSelectorRequirement;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Run with {@code -Dkastor.golden.write=true} to rewrite the golden pod. */
class PodTemplateTest {
  @Test
  void makesTheGoldenPod() throws Exception {
    String made = Serialization.asYaml(pod(Map.of("kastor.agent.checkpoint-host-path", "/state")));
    GoldenFile.at(Path.of("src/test/resources/golden/pod.yaml")).holds(made);
  }

  /** The golden pod with another name, the labels and variables of its role, and no slot. */
  @Test
  void aServerIsAReplicaWithoutASlotThatMayBeAnywhereElse() throws Exception {
    Map<String, String> settings = Map.of("kastor.agent.checkpoint-host-path", "/state");
    var job = TestJobs.job("bert", 1, 4, GoodputSpec.Mode.Adaptive);
    Pod server =
        template(settings)
            .server(
                job,
                ProfileSpec.NONE,
                Optional.empty(),
                7,
                2,
                List.of(new PodNode("n1", "host-1"), new PodNode("n0", "host-0")));
    assertThat(server.getMetadata().getName()).isEqualTo("bert-7-server2");
    assertThat(server.getMetadata().getLabels())
        .containsEntry("kastor.dev/job", "bert")
        .containsEntry("kastor.dev/role", "server")
        .containsEntry("kastor.dev/server-index", "2")
        .containsEntry("app.kubernetes.io/managed-by", "kastor");
    assertThat(server.getMetadata().getAnnotations()).containsOnlyKeys("kastor.dev/containers");
    var container = server.getSpec().getContainers().getFirst();
    assertThat(container.getResources().getLimits()).isEmpty();
    assertThat(container.getEnv())
        .contains(
            new EnvVar("KASTOR_ROLE", "server", null),
            new EnvVar("KASTOR_SERVER_INDEX", "2", null),
            new EnvVar("KASTOR_LOCAL_SLOTS", "0", null));
    var required =
        server
            .getSpec()
            .getAffinity()
            .getNodeAffinity()
            .getRequiredDuringSchedulingIgnoredDuringExecution();
    assertThat(required.getNodeSelectorTerms())
        .singleElement()
        .satisfies(term ->
            assertThat(term.getMatchExpressions())
                .containsExactly(
                    new NodeSelectorRequirement(
                        "kubernetes.io/hostname", "NotIn", List.of("host-0", "host-1"))));
    Pod replica = pod(settings);
    container
        .getResources()
        .setLimits(replica.getSpec().getContainers().getFirst().getResources().getLimits());
    container.setEnv(replica.getSpec().getContainers().getFirst().getEnv());
    server.getSpec().setAffinity(replica.getSpec().getAffinity());
    assertThat(server.getSpec()).as("all else").isEqualTo(replica.getSpec());
  }

  @Test
  void everyFileThatAVariableNamesIsBelowAMount() throws Exception {
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
  void nothingInAParameterIsAReferenceToAVariable() throws Exception {
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
  void theImageIsPulledWithTheSecretsOfTheSettingAndOfTheProfile() throws Exception {
    PodTemplate template = template(Map.of("kastor.agent.image-pull-secrets", "one,two"));
    ProfileSpec profile =
        Serialization.unmarshal(
            "imagePullSecrets: [{name: two}, {name: three}]", ProfileSpec.class);
    Pod pod =
        template.pod(
            TestJobs.job("bert", 1, 4, GoodputSpec.Mode.Adaptive, Map.of()),
            profile,
            7,
            new PodNode("n1", "host-1"));
    assertThat(pod.getSpec().getImagePullSecrets())
        .extracting(LocalObjectReference::getName)
        .containsExactly("one", "two", "three");
  }

  @Test
  void jobsThatShareAClaimHaveFoldersOfTheirOwn() throws Exception {
    Pod pod = pod(Map.of("kastor.agent.checkpoint-claim", "models"));
    assertThat(pod.getSpec().getVolumes())
        .filteredOn(volume -> volume.getName().equals("kastor-checkpoints"))
        .singleElement()
        .satisfies(volume ->
            assertThat(volume.getPersistentVolumeClaim().getClaimName()).isEqualTo("models"));
    assertThat(pod.getSpec().getContainers().getFirst().getVolumeMounts())
        .filteredOn(mount -> mount.getName().equals("kastor-checkpoints"))
        .singleElement()
        .satisfies(mount -> assertThat(mount.getSubPath()).isEqualTo("bert-uid-of-bert"));
  }

  @Test
  void theCheckpointsOfTheJobOfAWarmStartAreMountedToBeReadOnly() throws Exception {
    TrainingJob job = begunWith("ada");
    TrainingJob other = TestJobs.job("ada", 1, 1, GoodputSpec.Mode.Fixed);
    for (Map<String, String> settings :
        List.of(
            Map.of("kastor.agent.checkpoint-claim", "models"),
            Map.of("kastor.agent.checkpoint-host-path", "/state"))) {
      Pod pod = warm(settings, job, Optional.of(other));
      var container = pod.getSpec().getContainers().getFirst();
      assertThat(container.getEnv())
          .contains(
              new EnvVar("KASTOR_WARM_START_DIR", "/var/lib/kastor/warm-start", null),
              new EnvVar("KASTOR_WARM_START_UID", "uid-of-ada", null),
              new EnvVar("KASTOR_WARM_START_RUNS", "glyph-mlp", null));
      VolumeMount mount =
          container.getVolumeMounts().stream()
              .filter(each -> each.getMountPath().equals("/var/lib/kastor/warm-start"))
              .findFirst()
              .orElseThrow();
      assertThat(mount.getReadOnly()).isTrue();
      Volume volume =
          pod.getSpec().getVolumes().stream()
              .filter(each -> each.getName().equals(mount.getName()))
              .findFirst()
              .orElseThrow();
      if (volume.getHostPath() != null) {
        assertThat(volume.getHostPath().getPath()).isEqualTo("/state/team/ada-uid-of-ada");
      } else {
        assertThat(volume.getPersistentVolumeClaim().getClaimName()).isEqualTo("models");
        assertThat(mount.getSubPath()).isEqualTo("ada-uid-of-ada");
      }
    }
  }

  @Test
  void aReplicaIsToldWhyItCannotHaveTheCheckpointsOfAnotherJob() throws Exception {
    Map<String, String> shared = Map.of("kastor.agent.checkpoint-host-path", "/state");
    TrainingJob job = begunWith("ada");
    assertThat(problem(shared, job, Optional.empty()))
        .isEqualTo("there is no such TrainingJob in namespace team");
    assertThat(problem(shared, job, Optional.of(job))).contains("its own");
    assertThat(problem(shared, job, Optional.of(TestJobs.gang("ada", 1, 2)))).contains("gang");
    TrainingJob script = TestJobs.job("ada", 1, 1, GoodputSpec.Mode.Fixed);
    script.setSpec(
        TestJobs.ofTemplate(
            new ElasticSpec(1, 1, null),
            new GoodputSpec(null, new BatchSizeSpec(32, null, null, null), null, null)));
    assertThat(problem(shared, job, Optional.of(script)))
        .contains("runs a program of the engine (glyph-mlp) and the other a template");
    TrainingJob other = TestJobs.job("ada", 1, 1, GoodputSpec.Mode.Fixed);
    assertThat(problem(Map.of(), job, Optional.of(other))).contains("in its pods alone");
    // Without a warm start there is neither a variable nor a volume, whoever is named beside.
    TrainingJob fresh = TestJobs.job("bert", 1, 4, GoodputSpec.Mode.Adaptive);
    assertThat(Serialization.asYaml(warm(shared, fresh, Optional.of(other))))
        .isEqualTo(Serialization.asYaml(pod(shared)));
  }

  private static TrainingJob begunWith(String other) {
    TrainingJob job = TestJobs.job("bert", 1, 4, GoodputSpec.Mode.Adaptive);
    TrainingJobSpec spec = job.getSpec();
    job.setSpec(
        new TrainingJobSpec(
            spec.suspend(),
            spec.queue(),
            spec.priority(),
            spec.family(),
            spec.elastic(),
            spec.goodput(),
            new CheckpointSpec(null, null, new WarmStartSpec(other, null)),
            spec.faultTolerance(),
            spec.program()));
    return job;
  }

  private static Pod warm(
      Map<String, String> settings, TrainingJob job, Optional<TrainingJob> other)
      throws InvalidTemplate {
    return template(settings)
        .pod(
            job,
            ProfileSpec.NONE,
            other.map(each -> new WarmStartSource(each, ProfileSpec.NONE)),
            7,
            new PodNode("n1", "host-1"));
  }

  private static String problem(
      Map<String, String> settings, TrainingJob job, Optional<TrainingJob> other)
      throws InvalidTemplate {
    Pod pod = warm(settings, job, other);
    assertThat(pod.getSpec().getVolumes()).hasSize(4);
    List<EnvVar> env =
        pod.getSpec().getContainers().getFirst().getEnv().stream()
            .filter(each -> each.getName().startsWith("KASTOR_WARM_START"))
            .toList();
    assertThat(env).extracting(EnvVar::getName).containsExactly("KASTOR_WARM_START_PROBLEM");
    return env.getFirst().getValue();
  }

  @Test
  void aReplicaOfATemplateIsTheUsersPodWithWhatAgentsNeed() throws Exception {
    Pod pod = ofTemplate(template -> {});
    assertThat(pod.getMetadata().getName()).isEqualTo("bert-7");
    assertThat(pod.getSpec().getHostname()).isNull();
    assertThat(pod.getSpec().getTerminationGracePeriodSeconds()).isEqualTo(30);
    var container = pod.getSpec().getContainers().getFirst();
    assertThat(container.getCommand()).containsExactly("python", "train.py");
    assertThat(container.getResources().getLimits()).containsOnlyKeys("kastor.dev/slot");
    Map<String, String> env = new TreeMap<>();
    container.getEnv().forEach(each -> env.put(each.getName(), String.valueOf(each.getValue())));
    assertThat(env)
        .hasSameSizeAs(container.getEnv())
        .containsEntry("DATA", "/data")
        .containsEntry("KASTOR_JOB", "bert")
        .containsEntry("KASTOR_PROTOCOL", "2")
        .doesNotContainKeys("RANK", "WORLD_SIZE", "MASTER_ADDR");
    assertThat(env.get("KASTOR_JOB_SPEC"))
        .contains("\"initial\":32")
        .doesNotContain("template", "learningRate", "work");
    assertThat(container.getVolumeMounts())
        .extracting(VolumeMount::getMountPath)
        .containsExactly(
            "/var/run/kastor/token", "/etc/kastor/ring", "/var/lib/kastor/checkpoints");
  }

  @Test
  void aReplicaTakesItsSlotsOfOneNode() throws Exception {
    var job = TestJobs.job("bert", 1, 4, GoodputSpec.Mode.Adaptive);
    job.setSpec(job.getSpec().withSlotsPerReplica(2));
    Pod program =
        template(Map.of("kastor.slot-resource", "nvidia.com/gpu"))
            .pod(job, ProfileSpec.NONE, 7, new PodNode("n1", "host-1"));
    var container = program.getSpec().getContainers().getFirst();
    assertThat(container.getResources().getLimits())
        .isEqualTo(Map.of("nvidia.com/gpu", new Quantity("2")));
    assertThat(container.getEnv()).contains(new EnvVar("KASTOR_LOCAL_SLOTS", "2", null));
  }

  @Test
  void aTemplateMayAskForTheSlotsOfItsReplicaAndForNoOthers() throws Exception {
    assertThat(limits(ofTemplate(2, template -> {})))
        .isEqualTo(Map.of("kastor.dev/slot", new Quantity("2")));
    assertThat(limits(ofTemplate(2, asks("2"))))
        .isEqualTo(Map.of("kastor.dev/slot", new Quantity("2")));
    for (String other : List.of("1", "3", "9E")) {
      assertThatThrownBy(() -> ofTemplate(2, asks(other)))
          .isInstanceOf(InvalidTemplate.class)
          .hasMessageStartingWith(
              "spec.template.spec.containers[0].resources.limits[kastor.dev/slot]: ")
          .hasMessageContaining("spec.elastic.slotsPerReplica is 2");
    }
  }

  private static Map<String, Quantity> limits(Pod pod) {
    return pod.getSpec().getContainers().getFirst().getResources().getLimits();
  }

  private static Consumer<Map<String, Object>> asks(String slots) {
    Map<String, Object> container =
        Map.of(
            "name",
            "train",
            "image",
            "trainer:1",
            "resources",
            Map.of("limits", Map.of("kastor.dev/slot", slots)));
    return spec -> spec.put("containers", List.of(container));
  }

  @Test
  void aGangsPodSaysHowManyProcessesItHasSlotsFor() throws Exception {
    var job = TestJobs.job("bert", 2, 2, GoodputSpec.Mode.Adaptive);
    job.setSpec(TestJobs.ofTemplate(new ElasticSpec(2, 2, null).withSlotsPerReplica(4), null));
    Pod pod =
        new GangTemplate(config(Map.of("kastor.slot-resource", "kastor.dev/slot")))
            .pod(job, ProfileSpec.NONE, 0, 1, 2, new PodNode("n1", "host-1"));
    assertThat(limits(pod)).containsEntry("kastor.dev/slot", new Quantity("4"));
    assertThat(pod.getSpec().getContainers().getFirst().getEnv())
        .contains(
            new EnvVar("WORLD_SIZE", "2", null),
            new EnvVar("PET_NNODES", "2", null),
            new EnvVar("PET_NPROC_PER_NODE", "4", null),
            new EnvVar("KASTOR_LOCAL_SLOTS", "4", null));
  }

  @Test
  void aReplicaHasTheGraceOfItsTemplate() throws Exception {
    Pod pod = ofTemplate(spec -> spec.put("terminationGracePeriodSeconds", 7));
    assertThat(pod.getSpec().getTerminationGracePeriodSeconds()).isEqualTo(7);
    assertThat(pod.getSpec().getContainers().getFirst().getEnv())
        .contains(new EnvVar("KASTOR_TERMINATION_GRACE_SECONDS", "7", null));
  }

  @Test
  void aReplicaHasOneContainer() {
    assertThatThrownBy(() ->
            ofTemplate(spec ->
                spec.put(
                    "containers",
                    List.of(Map.of("name", "a", "image", "a"), Map.of("name", "b", "image", "b")))))
        .isInstanceOf(InvalidTemplate.class)
        .hasMessageStartingWith("spec.template.spec.containers[1]: ");
  }

  private static Pod ofTemplate(Consumer<Map<String, Object>> change) throws InvalidTemplate {
    return ofTemplate(1, change);
  }

  private static Pod ofTemplate(int slotsPerReplica, Consumer<Map<String, Object>> change)
      throws InvalidTemplate {
    var job = TestJobs.job("bert", 1, 4, GoodputSpec.Mode.Adaptive);
    var given =
        TestJobs.ofTemplate(
            new ElasticSpec(1, 4, null).withSlotsPerReplica(slotsPerReplica),
            new GoodputSpec(null, new BatchSizeSpec(32, null, null, null), null, null));
    Map<String, Object> template = Objects.requireNonNull(given.template());
    Map<String, Object> spec = new TreeMap<>();
    if (template.get("spec") instanceof Map<?, ?> original) {
      original.forEach((key, value) -> spec.put(String.valueOf(key), value));
    }
    change.accept(spec);
    template.put("spec", spec);
    job.setSpec(given);
    return template(Map.of()).pod(job, ProfileSpec.NONE, 7, new PodNode("n1", "host-1"));
  }

  private static Pod pod(Map<String, String> settings) throws InvalidTemplate {
    return template(settings)
        .pod(
            TestJobs.job("bert", 1, 4, GoodputSpec.Mode.Adaptive),
            ProfileSpec.NONE,
            7,
            new PodNode("n1", "host-1"));
  }

  private static PodTemplate template(Map<String, String> settings) {
    return new PodTemplate(config(settings));
  }

  private static OperatorConfig config(Map<String, String> settings) {
    return new SmallRyeConfigBuilder()
        .withMapping(OperatorConfig.class)
        .addDefaultInterceptors()
        .addDiscoveredConverters()
        .withValidateUnknown(false)
        .withDefaultValues(settings)
        .withDefaultValue("kastor.agent.operator-url", "https://kastor:8443")
        .build()
        .getConfigMapping(OperatorConfig.class);
  }
}
