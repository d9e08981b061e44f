package dev.kastor.crds;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.profile.ClusterTrainingProfile;
import dev.kastor.crds.queue.Queue;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.testkit.GoldenFile;
import io.fabric8.crdv2.generator.CRDGenerator;
import io.fabric8.crdv2.generator.CRDPostProcessor;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionVersion;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaPropsOrArrayBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.ValidationRule;
import io.fabric8.kubernetes.api.model.apiextensions.v1.ValidationRuleBuilder;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The checked-in CRD is what the records generate, on the class path and in the chart.
 *
 * <p>Run with {@code -Dkastor.golden.write=true} to rewrite both copies after changing a record.
 */
class CrdGoldenTest {
  /** What becomes a definition of its own, by the name of its file. */
  private static final Map<String, Class<? extends CustomResource<?, ?>>> KINDS =
      Map.of(
          "trainingjobs.kastor.dev-v1.yml", TrainingJob.class,
          "clustertrainingprofiles.kastor.dev-v1.yml", ClusterTrainingProfile.class,
          "queues.kastor.dev-v1.yml", Queue.class);

  private static final String NAME = "trainingjobs.kastor.dev-v1.yml";
  private static final Path ROOT = Path.of(System.getProperty("kastor.root", ".."));
  private static final Path RESOURCES = ROOT.resolve("crds/src/main/resources/META-INF/kastor");
  private static final Path RESOURCE = RESOURCES.resolve(NAME);
  private static final Path CHART = ROOT.resolve("helm/kastor/crds");

  private static final List<String> COLUMNS =
      List.of(
          "Phase",
          "Queue",
          "Has",
          "Wants",
          "Goodput",
          "Progress%",
          "ETA",
          "Reason",
          "Batch",
          "GPU",
          "Nodes",
          "Restarts",
          "Age");

  /** The operator says the same of jobs that were made before. */
  private static final List<ValidationRule> NAMES =
      List.of(
          new ValidationRuleBuilder()
              .withRule("size(self.metadata.name) <= 63")
              .withMessage(
                  "the name of a TrainingJob may have at most 63 characters: it becomes a label of"
                      + " its pods")
              .build(),
          new ValidationRuleBuilder()
              .withRule(
                  "!has(self.spec.template) || has(self.spec.goodput) ||"
                      + " self.metadata.name.matches('^[a-z]([-a-z0-9]{0,56}[a-z0-9])?$')")
              .withMessage(
                  "the name of a gang becomes that of a Service and of hosts, so it has at most 58"
                      + " lower-case letters, digits and hyphens and begins with a letter")
              .build());

  private static final List<String> QUEUE_COLUMNS =
      List.of(
          "Cohort",
          "Weight",
          "Quota",
          "Used",
          "Borrowed",
          "Lent",
          "Running",
          "Pending",
          "State",
          "Age");

  @TempDir Path folder;

  @Tag("slow")
  @Test
  void goldenFilesAreWhatTheRecordsGenerate() throws IOException {
    for (var kind : KINDS.entrySet()) {
      String generated = generate(kind.getKey(), kind.getValue());
      for (Path copy : List.of(RESOURCES.resolve(kind.getKey()), CHART.resolve(kind.getKey()))) {
        GoldenFile.at(copy).holds(generated);
      }
    }
  }

  /** An API server checks an object's default against its rules before it fills in nested ones. */
  @Tag("slow")
  @Test
  void defaultsOfObjectsWithRulesAreComplete() throws IOException {
    var crd = Serialization.unmarshal(Files.readString(RESOURCE), CustomResourceDefinition.class);
    JSONSchemaProps root = crd.getSpec().getVersions().getFirst().getSchema().getOpenAPIV3Schema();
    Map<String, JSONSchemaProps> objects = new TreeMap<>();
    collect("", root, objects);
    objects.values().removeIf(each -> each.getDefault() == null);
    objects.values().removeIf(each -> each.getXKubernetesValidations().isEmpty());

    assertThat(objects).containsOnlyKeys(".spec.elastic", ".spec.goodput.batchSize.perDevice");
    objects.forEach((path, object) ->
        object
            .getProperties()
            .forEach((name, property) -> {
              if (property.getDefault() != null) {
                assertThat(object.getDefault().get(name))
                    .as("default of %s in %s", name, path)
                    .isEqualTo(property.getDefault());
              }
            }));
  }

  /**
   * Such a text has no bound that an API server knows, so it refuses the whole CRD as too costly.
   */
  @Tag("slow")
  @Test
  void noMessageTurnsNumbersIntoText() throws IOException {
    assertThat(RESOURCE).content(UTF_8).contains("messageExpression").doesNotContain("string(self");
  }

  private static void collect(
      String path, JSONSchemaProps object, Map<String, JSONSchemaProps> into) {
    into.put(path, object);
    object.getProperties().forEach((name, property) -> collect(path + "." + name, property, into));
  }

  /** Adds what annotations cannot say. */
  private static HasMetadata complete(CustomResourceDefinition crd) {
    CustomResourceDefinitionVersion served = crd.getSpec().getVersions().getFirst();
    JSONSchemaProps root = served.getSchema().getOpenAPIV3Schema();
    root.setRequired(List.of("spec"));
    switch (crd.getSpec().getNames().getKind()) {
      case "TrainingJob" -> {
        served
            .getAdditionalPrinterColumns()
            .sort(Comparator.comparingInt(column -> COLUMNS.indexOf(column.getName())));
        root.setDescription(
            "A deep-learning training job that Kastor sizes, places and keeps alive.");
        root.setXKubernetesValidations(NAMES);
        byType(property(property(root, "status"), "conditions"));
        podTemplate(property(property(root, "spec"), "template"));
        training(property(property(root, "spec"), "training"));
      }
      case "ClusterTrainingProfile" -> {
        root.setDescription("What a platform team adds to the pods of the jobs that name it.");
        JSONSchemaProps spec = property(root, "spec");
        anything(property(spec, "volumes").getItems().getSchema(), "name");
        anything(property(spec, "volumeMounts").getItems().getSchema(), "name", "mountPath");
      }
      case "Queue" -> {
        served
            .getAdditionalPrinterColumns()
            .sort(Comparator.comparingInt(column -> QUEUE_COLUMNS.indexOf(column.getName())));
        root.setDescription(
            "A queue of jobs: how many GPUs they may hold together, and what that counts.");
        byType(property(property(root, "status"), "conditions"));
        JSONSchemaProps namespaces = property(property(root, "spec"), "namespaces");
        namespaces.setXKubernetesListType("set");
        namespaces.getItems().getSchema().setMaxLength(63L);
      }
      default -> throw new IllegalStateException("no rule for " + crd.getSpec().getNames());
    }
    return crd;
  }

  private static void byType(JSONSchemaProps conditions) {
    conditions.setXKubernetesListType("map");
    conditions.setXKubernetesListMapKeys(List.of("type"));
    conditions.getItems().getSchema().setRequired(List.of("type", "status"));
  }

  /** The operator asks the API server what it thinks of the rest: its schema is as big as ours. */
  private static void podTemplate(JSONSchemaProps template) {
    JSONSchemaProps container = new JSONSchemaProps();
    anything(container, "name", "image");
    JSONSchemaProps containers = new JSONSchemaProps();
    containers.setType("array");
    containers.setMinItems(1L);
    containers.setMaxItems(32L);
    containers.setItems(new JSONSchemaPropsOrArrayBuilder().withSchema(container).build());
    JSONSchemaProps spec = new JSONSchemaProps();
    anything(spec, "containers");
    spec.setProperties(Map.of("containers", containers));
    JSONSchemaProps metadata = new JSONSchemaProps();
    anything(metadata);
    anything(template, "spec");
    template.setProperties(new TreeMap<>(Map.of("metadata", metadata, "spec", spec)));
  }

  /**
   * A server compares fields that a schema names, and of others no more than their number if the
   * names differ: the fields of training have names and no type.
   */
  private static void training(JSONSchemaProps training) {
    anything(training);
    training.setProperties(
        new TreeMap<>(
            Map.of(
                "passes", free("Graph passes by name, on or off."),
                "gradients", free("What is done to the mean gradient, in this order."),
                "codec", free("What stands for gradients between replicas."),
                "updates", free("What is done to the parameters after each step, in this order."),
                "select", free("What chooses the examples that are trained."),
                "tune", free("What changes the learning rate while the job trains."),
                "sync", free("When replicas exchange what they learned."),
                "collective", free("How replicas sum."),
                "devices", free("How the devices of a replica share a pass."),
                "drift", free("What is done where states of replicas differ: repair or fail."))));
  }

  private static JSONSchemaProps free(String description) {
    JSONSchemaProps free = new JSONSchemaProps();
    free.setDescription(description);
    free.setXKubernetesPreserveUnknownFields(true);
    return free;
  }

  private static void anything(JSONSchemaProps object, String... required) {
    object.setType("object");
    object.setAdditionalProperties(null);
    object.setXKubernetesPreserveUnknownFields(true);
    if (required.length > 0) {
      object.setRequired(List.of(required));
    }
  }

  private static JSONSchemaProps property(JSONSchemaProps object, String name) {
    return Objects.requireNonNull(object.getProperties().get(name), name);
  }

  private String generate(String name, Class<? extends CustomResource<?, ?>> kind)
      throws IOException {
    int count =
        new CRDGenerator()
            .customResourceClasses(kind)
            .forCRDVersions("v1")
            .withMinQuotes(true)
            .withPostProcessor(
                new CRDPostProcessor() {
                  @Override
                  public HasMetadata process(HasMetadata crd, String version) {
                    return complete((CustomResourceDefinition) crd);
                  }
                })
            .inOutputDir(folder.toFile())
            .generate();
    assertThat(count).isEqualTo(1);
    return Files.readString(folder.resolve(name));
  }
}
