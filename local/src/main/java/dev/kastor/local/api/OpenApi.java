package dev.kastor.local.api;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Optional;

/**
 * The OpenAPI 3 documents of the types, a document for each group and version: kubectl reads there
 * whether the server checks fields by itself, and {@code kubectl explain} what they mean.
 */
final class OpenApi {
  private static final String PREFIX = "/openapi/v3";

  private final Resources resources;

  OpenApi(Resources resources) {
    this.resources = resources;
  }

  /** The document at a path, if there is one. */
  Optional<ObjectNode> answer(String path) {
    if (path.equals(PREFIX)) {
      return Optional.of(index());
    }
    if (!path.startsWith(PREFIX + "/")) {
      return Optional.empty();
    }
    String place = path.substring(PREFIX.length() + 1);
    List<ResourceType> types =
        resources.types().all().stream().filter(type -> place(type).equals(place)).toList();
    return types.isEmpty() ? Optional.empty() : Optional.of(document(types));
  }

  private static String place(ResourceType type) {
    return (type.group().isEmpty() ? "api/" : "apis/") + type.apiVersion();
  }

  private ObjectNode index() {
    ObjectNode index = Json.object();
    ObjectNode paths = index.putObject("paths");
    resources
        .types()
        .all()
        .forEach(type ->
            paths.putObject(place(type)).put("serverRelativeURL", PREFIX + "/" + place(type)));
    return index;
  }

  private ObjectNode document(List<ResourceType> types) {
    ObjectNode document = Json.object().put("openapi", "3.0.0");
    document.putObject("info").put("title", "Kubernetes").put("version", "v1");
    ObjectNode paths = document.putObject("paths");
    ObjectNode schemas = document.putObject("components").putObject("schemas");
    for (ResourceType type : types) {
      String name = "dev.kastor.local." + type.version() + "." + type.kind();
      schemas.set(name, schema(type));
      String collection =
          "/%s/%s%s"
              .formatted(
                  place(type), type.namespaced() ? "namespaces/{namespace}/" : "", type.plural());
      operation(paths.putObject(collection), "post", type, name);
      operation(paths.putObject(collection + "/{name}"), "patch", type, name);
    }
    return document;
  }

  private ObjectNode schema(ResourceType type) {
    ObjectNode schema =
        resources
            .custom(type)
            .map(custom -> custom.schema().deepCopy())
            .orElseGet(() ->
                Json.object()
                    .put("type", "object")
                    .put("x-kubernetes-preserve-unknown-fields", true));
    identity(schema.putArray("x-kubernetes-group-version-kind").addObject(), type);
    return schema;
  }

  private static void operation(ObjectNode path, String verb, ResourceType type, String schema) {
    ObjectNode operation = path.putObject(verb);
    identity(operation.putObject("x-kubernetes-group-version-kind"), type);
    operation.put("x-kubernetes-action", verb);
    ArrayNode parameters = operation.putArray("parameters");
    for (String parameter : List.of("dryRun", "fieldManager", "fieldValidation")) {
      parameters
          .addObject()
          .put("name", parameter)
          .put("in", "query")
          .putObject("schema")
          .put("type", "string");
    }
    operation
        .putObject("responses")
        .putObject("200")
        .put("description", "OK")
        .putObject("content")
        .putObject("application/json")
        .putObject("schema")
        .put("$ref", "#/components/schemas/" + schema);
  }

  private static void identity(ObjectNode to, ResourceType type) {
    to.put("group", type.group()).put("version", type.version()).put("kind", type.kind());
  }
}
