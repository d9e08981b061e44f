package dev.kastor.local.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.Error;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.dialect.Dialects;
import com.networknt.schema.path.NodePath;
import java.util.ArrayList;
import java.util.List;

/** Checks objects against the structural part of a CRD's OpenAPI schema. */
final class StructuralCheck {
  private final Schema schema;

  private StructuralCheck(Schema schema) {
    this.schema = schema;
  }

  static StructuralCheck of(ObjectNode openApi) {
    ObjectNode plain = openApi.deepCopy();
    plainSchema(plain);
    return new StructuralCheck(
        SchemaRegistry.withDialect(Dialects.getOpenApi30()).getSchema((JsonNode) plain));
  }

  /** Kubernetes' own keywords mean nothing to a validator of OpenAPI. */
  private static void plainSchema(JsonNode node) {
    if (node instanceof ObjectNode object) {
      if (object.path("x-kubernetes-int-or-string").asBoolean(false)) {
        object.remove("type");
      }
      List<String> extensions =
          object
              .propertyStream()
              .map(e -> e.getKey())
              .filter(f -> f.startsWith("x-kubernetes-"))
              .toList();
      object.remove(extensions);
    }
    node.forEach(StructuralCheck::plainSchema);
  }

  List<FieldError> check(ObjectNode object) {
    List<FieldError> errors = new ArrayList<>();
    for (Error error : schema.validate(object)) {
      errors.add(fieldError(error));
    }
    return errors;
  }

  private static FieldError fieldError(Error error) {
    String field = dotted(error.getInstanceLocation());
    JsonNode value = error.getInstanceNode();
    JsonNode rule = error.getSchemaNode();
    return switch (error.getKeyword()) {
      case "required" ->
          FieldError.required(
              field.isEmpty() ? error.getProperty() : field + "." + error.getProperty());
      case "enum" -> unsupported(field, value, rule);
      case "type" ->
          FieldError.invalid(
              field,
              Json.text(value),
              "%s in body must be of type %s".formatted(field, rule.asText()));
      case "minimum" -> bound(field, value, "greater than or equal to", rule);
      case "maximum" -> bound(field, value, "less than or equal to", rule);
      case "pattern" ->
          FieldError.invalid(
              field,
              Json.text(value),
              "%s in body should match '%s'".formatted(field, rule.asText()));
      default -> FieldError.invalid(field, Json.text(value), error.getMessage());
    };
  }

  private static FieldError bound(String field, JsonNode value, String relation, JsonNode bound) {
    return FieldError.invalid(
        field,
        Json.text(value),
        "%s in body should be %s %s".formatted(field, relation, bound.asText()));
  }

  private static FieldError unsupported(String field, JsonNode value, JsonNode allowed) {
    List<String> names = new ArrayList<>();
    if (allowed instanceof ArrayNode list) {
      list.forEach(v -> names.add(Json.text(v)));
    }
    return new FieldError(
        field,
        "FieldValueNotSupported",
        "Unsupported value: %s: supported values: %s"
            .formatted(Json.text(value), String.join(", ", names)));
  }

  private static String dotted(NodePath path) {
    StringBuilder dotted = new StringBuilder();
    for (int i = 0; i < path.getNameCount(); i++) {
      Object element = path.getElement(i);
      if (element instanceof Integer index) {
        dotted.append('[').append(index).append(']');
      } else {
        dotted.append(dotted.isEmpty() ? "" : ".").append(element);
      }
    }
    return dotted.toString();
  }
}
