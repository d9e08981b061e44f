package dev.kastor.crds;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.crdv2.generator.CRDGenerator;
import io.fabric8.crdv2.generator.CRDPostProcessor;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionVersion;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The checked-in CRD is what the records generate, on the class path and in the chart.
 *
 * <p>Run with {@code -Dkastor.golden.write=true} to rewrite both copies after changing a record.
 */
class CrdGoldenTest {
  private static final String NAME = "trainingjobs.kastor.dev-v1.yml";
  private static final Path ROOT = Path.of(System.getProperty("kastor.root", ".."));
  private static final Path RESOURCE =
      ROOT.resolve("crds/src/main/resources/META-INF/kastor").resolve(NAME);
  private static final Path CHART = ROOT.resolve("helm/kastor/crds").resolve(NAME);

  private static final List<String> COLUMNS =
      List.of("Phase", "Replicas", "Batch", "Goodput", "Progress%", "ETA", "Restarts", "Age");

  @TempDir Path folder;

  @Test
  void goldenFilesAreWhatTheRecordsGenerate() throws IOException {
    String generated = generate();
    if (Boolean.getBoolean("kastor.golden.write")) {
      Files.createDirectories(RESOURCE.getParent());
      Files.writeString(RESOURCE, generated);
      Files.createDirectories(CHART.getParent());
      Files.writeString(CHART, generated);
    }
    assertThat(RESOURCE).usingCharset(UTF_8).hasContent(generated);
    assertThat(CHART).usingCharset(UTF_8).hasContent(generated);
  }

  /** An API server checks an object's default against its rules before it fills in nested ones. */
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
    served
        .getAdditionalPrinterColumns()
        .sort(Comparator.comparingInt(column -> COLUMNS.indexOf(column.getName())));
    JSONSchemaProps root = served.getSchema().getOpenAPIV3Schema();
    root.setDescription("A deep-learning training job that Kastor sizes, places and keeps alive.");
    root.setRequired(List.of("spec"));
    JSONSchemaProps conditions = property(property(root, "status"), "conditions");
    conditions.setXKubernetesListType("map");
    conditions.setXKubernetesListMapKeys(List.of("type"));
    conditions.getItems().getSchema().setRequired(List.of("type", "status"));
    return crd;
  }

  private static JSONSchemaProps property(JSONSchemaProps object, String name) {
    return Objects.requireNonNull(object.getProperties().get(name), name);
  }

  private String generate() throws IOException {
    int count =
        new CRDGenerator()
            .customResourceClasses(TrainingJob.class)
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
    return Files.readString(folder.resolve(NAME));
  }
}
