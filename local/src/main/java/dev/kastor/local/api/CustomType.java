package dev.kastor.local.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * A type that a CRD defines, with its schema, defaults and rules.
 *
 * @param type the type
 * @param shortNames what kubectl takes for its plural
 * @param columns what a table of its objects shows
 * @param schema the OpenAPI schema of its objects
 * @param structure checks types, bounds, patterns and required fields
 * @param rules checks the CEL rules
 */
record CustomType(
    ResourceType type,
    List<String> shortNames,
    List<PrinterColumn> columns,
    ObjectNode schema,
    StructuralCheck structure,
    CelRules rules) {
  /** One custom type for each served version of the CRD. */
  static List<CustomType> of(ObjectNode crd) {
    JsonNode spec = crd.path("spec");
    List<CustomType> types = new ArrayList<>();
    for (JsonNode version : spec.path("versions")) {
      if (!(version.at("/schema/openAPIV3Schema") instanceof ObjectNode schema)) {
        throw ApiException.badRequest(
            "spec.versions[%d].schema.openAPIV3Schema: Required value".formatted(types.size()));
      }
      ResourceType type =
          new ResourceType(
              spec.path("group").asText(),
              version.path("name").asText(),
              spec.at("/names/kind").asText(),
              spec.at("/names/plural").asText(),
              spec.path("scope").asText().equals("Namespaced"),
              version.path("subresources").has("status"));
      types.add(
          new CustomType(
              type,
              texts(spec.at("/names/shortNames")),
              PrinterColumn.of(version),
              schema,
              StructuralCheck.of(schema),
              CelRules.of(schema)));
    }
    return types;
  }

  private static List<String> texts(JsonNode array) {
    return StreamSupport.stream(array.spliterator(), false).map(JsonNode::asText).toList();
  }

  /**
   * Fills in defaults, drops unknown fields and checks the rest.
   *
   * @param strict whether an unknown field is an error, as with {@code fieldValidation=Strict}
   * @param old the object before an update; null for a creation
   * @return the object as it is stored
   * @throws ApiException that names every field at fault
   */
  ObjectNode admit(ObjectNode object, @Nullable ObjectNode old, boolean strict) {
    ObjectNode admitted = object.deepCopy();
    List<String> unknown = new ArrayList<>();
    Pruning.prune(schema, admitted, "", true, unknown);
    if (strict && !unknown.isEmpty()) {
      String fields = String.join("\", unknown field \"", unknown);
      throw ApiException.badRequest(
          ("%s in version \"%s\" cannot be handled as a %s: strict decoding error: unknown field"
                  + " \"%s\"")
              .formatted(type.kind(), type.version(), type.kind(), fields));
    }
    Defaults.fill(schema, admitted);
    List<FieldError> errors = structure.check(admitted);
    if (errors.isEmpty()) {
      errors = rules.check(admitted, old);
    }
    if (!errors.isEmpty()) {
      throw ApiException.invalid(type, Json.name(object), errors);
    }
    return admitted;
  }
}
