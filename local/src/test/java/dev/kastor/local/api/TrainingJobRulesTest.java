package dev.kastor.local.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobSpec;
import dev.kastor.local.Installation;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rules of the shipped CRD that an API server applies. */
final class TrainingJobRulesTest {
  private static final String TEMPLATE =
      """
      "template": {"spec": {"containers": [{"name": "main", "image": "trainer:1", "tty": true}]}}
      """;
  private static final String PROGRAM =
      """
      "program": {"name": "glyph-mlp"},
      "goodput": {"batchSize": {"initial": 32}, "learningRate": {"base": "0.1"},
                  "work": {"epochs": 1}}
      """;

  @TempDir Path logs;
  private LocalApi api;

  @BeforeEach
  void start() throws Exception {
    api = new LocalApi(logs);
    try (InputStream crd =
        getClass().getClassLoader().getResourceAsStream(Installation.crdResource())) {
      api.server.define(Objects.requireNonNull(crd));
    }
  }

  @AfterEach
  void stop() {
    api.close();
  }

  private Resource<TrainingJob> create(String name, String spec) {
    TrainingJob job =
        Serialization.unmarshal(
            """
            {"apiVersion": "kastor.dev/v1alpha1", "kind": "TrainingJob",
             "metadata": {"name": "%s", "namespace": "default"}, "spec": {%s}}
            """
                .formatted(name, spec),
            TrainingJob.class);
    var resource = api.client.resources(TrainingJob.class).inNamespace("default").resource(job);
    resource.create();
    return resource;
  }

  @Tag("slow")
  @Test
  void aTemplateWithGoodputIsResizedAndItsScriptSaysTheRest() {
    Resource<TrainingJob> elastic =
        create(
            "elastic",
            TEMPLATE
                + ", \"elastic\": {\"maxReplicas\": 4}, \"goodput\": {\"batchSize\": {\"initial\":"
                + " 32}}");
    assertThat(elastic.get().getSpec().gang()).isFalse();
    assertThatThrownBy(() ->
            create(
                "rateless",
                "\"program\": {\"name\": \"glyph-mlp\"}, \"goodput\": {\"batchSize\": {\"initial\":"
                    + " 32}, \"work\": {\"epochs\": 1}}"))
        .hasMessageContaining("spec.goodput.learningRate.base: Required value: a program needs it");
    assertThatThrownBy(() ->
            create(
                "workless",
                "\"program\": {\"name\": \"glyph-mlp\"}, \"goodput\": {\"batchSize\": {\"initial\":"
                    + " 32}, \"learningRate\": {\"base\": \"0.1\"}}"))
        .hasMessageContaining("spec.goodput.work: Required value: a program needs it");
  }

  @Tag("slow")
  @Test
  void aTemplateIsAGangOfOneSizeAndNeedsNoGoodput() {
    Resource<TrainingJob> gang =
        create("gang", TEMPLATE + ", \"elastic\": {\"minReplicas\": 2, \"maxReplicas\": 2}");
    assertThat(gang.get().getSpec().runs()).isEqualTo("trainer:1");
    assertThat(String.valueOf(gang.get().getSpec().template()))
        .as("nothing of a template is dropped")
        .contains("tty=true");
    assertThatThrownBy(() -> create("two", TEMPLATE + ", \"elastic\": {\"maxReplicas\": 2}"))
        .hasMessageContaining("elastic.minReplicas is 1 and elastic.maxReplicas 2");
    assertThatThrownBy(() -> create("none", ""))
        .hasMessageContaining("exactly one of program and template");
    assertThatThrownBy(() -> create("both", TEMPLATE + ", " + PROGRAM))
        .hasMessageContaining("exactly one of program and template");
    assertThatThrownBy(() -> create("bare", "\"program\": {\"name\": \"glyph-mlp\"}"))
        .hasMessageContaining("a program needs goodput");
    assertThatThrownBy(() ->
            create("empty", "\"template\": {\"spec\": {\"containers\": [{\"name\": \"a\"}]}}"))
        .hasMessageContaining("spec.template.spec.containers[0].image");
  }

  @Tag("slow")
  @Test
  void theSizeOfAReplicaIsBoundedAndCannotChange() {
    Resource<TrainingJob> sized =
        create("sized", PROGRAM + ", \"elastic\": {\"maxReplicas\": 4, \"slotsPerReplica\": 8}");
    assertThat(sized.get().getSpec().slotsPerReplica()).isEqualTo(8);
    Resource<TrainingJob> plain = create("plain", PROGRAM);
    assertThat(Objects.requireNonNull(plain.get().getSpec().elastic()).slotsPerReplica())
        .as("left to the template, if there is one")
        .isNull();
    for (String other : new String[] {"4", "null"}) {
      assertThatThrownBy(
              () -> patch(sized, "{\"elastic\": {\"slotsPerReplica\": %s}}".formatted(other)))
          .hasMessageContaining("elastic.slotsPerReplica cannot change after creation");
    }
    assertThatThrownBy(() -> patch(plain, "{\"elastic\": {\"slotsPerReplica\": 2}}"))
        .hasMessageContaining("elastic.slotsPerReplica cannot change after creation");
    patch(sized, "{\"elastic\": {\"maxReplicas\": 6}}");
    for (String bad : new String[] {"0", "65"}) {
      assertThatThrownBy(() ->
              create("bad", PROGRAM + ", \"elastic\": {\"slotsPerReplica\": %s}".formatted(bad)))
          .hasMessageContaining("spec.elastic.slotsPerReplica");
    }
  }

  @Tag("slow")
  @Test
  void aGangHasSeveralSizesOnlyWhereItSaysThatItRestartsForThem() {
    Resource<TrainingJob> gang =
        create(
            "restarts",
            TEMPLATE
                + ", \"elastic\": {\"minReplicas\": 2, \"maxReplicas\": 8, \"rescale\":"
                + " \"Restart\"}");
    assertThat(gang.get().getSpec().restartsToRescale()).isTrue();
    patch(gang, "\"elastic\": {\"maxReplicas\": 4}");
    assertThatThrownBy(() -> patch(gang, "\"elastic\": {\"rescale\": \"Live\"}"))
        .hasMessageContaining("elastic.rescale cannot change");
    Resource<TrainingJob> one = create("one", TEMPLATE);
    assertThat(one.get().getSpec().restartsToRescale()).as("as it comes").isFalse();
    assertThatThrownBy(() -> patch(one, "\"elastic\": {\"rescale\": \"Restart\"}"))
        .hasMessageContaining("elastic.rescale cannot change");
    assertThatThrownBy(() -> create("live", TEMPLATE + ", \"elastic\": {\"maxReplicas\": 2}"))
        .hasMessageContaining("or elastic.rescale to Restart");
    assertThatThrownBy(
            () -> create("program", PROGRAM + ", \"elastic\": {\"rescale\": \"Restart\"}"))
        .hasMessageContaining("Restart is for a template without goodput");
    assertThatThrownBy(() ->
            create(
                "goodput",
                TEMPLATE
                    + ", \"goodput\": {\"batchSize\": {\"initial\": 32}}, \"elastic\":"
                    + " {\"rescale\": \"Restart\"}"))
        .hasMessageContaining("Restart is for a template without goodput");
    assertThatThrownBy(() -> patch(one, "\"elastic\": {\"rescale\": \"Often\"}"))
        .hasMessageContaining("spec.elastic.rescale: Unsupported value");
  }

  @Tag("slow")
  @Test
  void whatAJobRunsAndWhoRunsItCannotChange() {
    Resource<TrainingJob> gang = create("gang", TEMPLATE + ", \"profile\": \"a100\"");
    assertThat(gang.get().getSpec().managedBy()).isEqualTo(TrainingJobSpec.OPERATOR);
    assertThatThrownBy(() -> patch(gang, TEMPLATE.replace("trainer:1", "trainer:2")))
        .hasMessageContaining("template cannot change");
    assertThatThrownBy(() -> patch(gang, "\"managedBy\": \"kueue.x-k8s.io/multikueue\""))
        .hasMessageContaining("managedBy cannot change");
    assertThatThrownBy(() -> patch(gang, "\"profile\": null"))
        .hasMessageContaining("profile cannot change");
    assertThatThrownBy(() -> create("bad", TEMPLATE + ", \"managedBy\": \"me\""))
        .hasMessageContaining("spec.managedBy");
    assertThatThrownBy(() -> create("bad", TEMPLATE + ", \"lifecycle\": {\"startAttempts\": 0}"))
        .hasMessageContaining("spec.lifecycle.startAttempts");
    patch(gang, "\"lifecycle\": {\"activeDeadlineSeconds\": 60}");
    Resource<TrainingJob> program =
        create("program", PROGRAM + ", \"training\": {\"passes\": {\"tableProducts\": \"on\"}}");
    for (String other :
        new String[] {"{\"tableProducts\": \"off\"}", "{\"others\": \"on\"}", "null"}) {
      assertThatThrownBy(() -> patch(program, "\"training\": {\"passes\": %s}".formatted(other)))
          .hasMessageContaining("training cannot change");
    }
    assertThatThrownBy(() ->
            patch(program, "\"training\": {\"passes\": null, \"gradients\": [\"ClipByNorm\"]}"))
        .hasMessageContaining("training cannot change");
  }

  private Resource<TrainingJob> submit(String name, String family) {
    TrainingJob job =
        Serialization.unmarshal(
            """
            {"apiVersion": "kastor.dev/v1alpha1", "kind": "TrainingJob",
             "metadata": {"name": "%s", "namespace": "default"},
             "spec": {%s "program": {"name": "glyph-mlp"},
                      "goodput": {"batchSize": {"initial": 32}, "learningRate": {"base": "0.1"},
                                  "work": {"epochs": 1}}}}
            """
                .formatted(name, family),
            TrainingJob.class);
    var resource = api.client.resources(TrainingJob.class).inNamespace("default").resource(job);
    resource.create();
    return resource;
  }

  private static void patch(Resource<TrainingJob> job, String spec) {
    job.patch(
        PatchContext.of(PatchType.JSON_MERGE),
        "{\"spec\": %s}".formatted(spec.startsWith("{") ? spec : "{" + spec + "}"));
  }

  @Tag("slow")
  @Test
  void aFamilyIsFreeToChooseAtSubmissionOnly() {
    Resource<TrainingJob> declared = submit("a", "\"family\": \"resnet-50.imagenet\",");
    Resource<TrainingJob> undeclared = submit("b", "");
    assertThat(declared.get().getSpec().family()).isEqualTo("resnet-50.imagenet");
    for (String other : new String[] {"{\"family\": \"bert\"}", "{\"family\": null}"}) {
      assertThatThrownBy(() -> patch(declared, other))
          .hasMessageContaining("family cannot change after creation");
    }
    assertThatThrownBy(() -> patch(undeclared, "{\"family\": \"bert\"}"))
        .hasMessageContaining("family cannot change after creation");
    patch(declared, "{\"suspend\": true}");
    patch(undeclared, "{\"suspend\": true}");
  }

  @Tag("slow")
  @Test
  void aFamilyIsAShortName() {
    for (String bad : new String[] {"Res Net", "-a", "a/b", "a".repeat(64)}) {
      assertThatThrownBy(() -> submit("c", "\"family\": \"%s\",".formatted(bad)))
          .hasMessageContaining("spec.family");
    }
  }
}
