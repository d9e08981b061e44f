package dev.kastor.cli.manifest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.kastor.local.Installation;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Fields of Kastor's resources, as the definitions of this build have them. */
final class KnownFields {
  private static final YAMLMapper YAML = new YAMLMapper();

  private KnownFields() {}

  /**
   * Names of the fields beside one.
   *
   * @param kind kind of the resource
   * @param field path of the field, such as {@code spec.elastic.maxReplica} or {@code spec.a[2].b}
   * @return none if the kind or the path to the field is unknown
   */
  static List<String> beside(String kind, String field) {
    for (String resource : Installation.crdResources()) {
      JsonNode definition = read(resource);
      if (definition.at("/spec/names/kind").asText().equals(kind)) {
        JsonNode at = definition.at("/spec/versions/0/schema/openAPIV3Schema");
        String[] path = field.split("\\.", -1);
        for (int i = 0; i < path.length - 1; i++) {
          String[] name = path[i].split("\\[", -1);
          at = at.path("properties").path(name[0]);
          for (int items = 1; items < name.length; items++) {
            at = at.path("items");
          }
        }
        return at.path("properties").propertyStream().map(Map.Entry::getKey).toList();
      }
    }
    return List.of();
  }

  private static JsonNode read(String resource) {
    try (InputStream crd = KnownFields.class.getClassLoader().getResourceAsStream(resource)) {
      return YAML.readTree(Objects.requireNonNull(crd));
    } catch (IOException e) {
      throw new IllegalStateException("this build lacks " + resource, e);
    }
  }
}
