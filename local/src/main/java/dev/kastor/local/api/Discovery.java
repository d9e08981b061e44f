package dev.kastor.local.api;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Optional;

/** The documents by which clients find out what a server offers. */
final class Discovery {
  private static final List<String> VERBS =
      List.of("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch");

  private final Resources resources;
  private final ResourceTypes types;

  Discovery(Resources resources) {
    this.resources = resources;
    types = resources.types();
  }

  Optional<ObjectNode> answer(String path) {
    String[] parts = path.replaceAll("^/+|/+$", "").split("/", -1);
    if (path.equals("/version")) {
      ObjectNode version = Json.object();
      return Optional.of(
          version.put("major", "1").put("minor", "35").put("gitVersion", "v1.35.0+kastor"));
    }
    if (parts[0].equals("api") && parts.length == 1) {
      ObjectNode versions = Json.object().put("kind", "APIVersions");
      versions.putArray("versions").add("v1");
      return Optional.of(versions);
    }
    if (parts[0].equals("api") && parts.length == 2) {
      return Optional.of(resources("", parts[1]));
    }
    if (parts[0].equals("apis") && parts.length == 1) {
      return Optional.of(groups());
    }
    if (parts[0].equals("apis") && parts.length == 2) {
      return Optional.of(group(parts[1]));
    }
    if (parts[0].equals("apis") && parts.length == 3) {
      return Optional.of(resources(parts[1], parts[2]));
    }
    return Optional.empty();
  }

  private ObjectNode groups() {
    ObjectNode list = Json.object().put("kind", "APIGroupList").put("apiVersion", "v1");
    ArrayNode groups = list.putArray("groups");
    types.all().stream()
        .map(ResourceType::group)
        .filter(g -> !g.isEmpty())
        .distinct()
        .forEach(g -> groups.add(group(g)));
    return list;
  }

  private ObjectNode group(String name) {
    ObjectNode group = Json.object().put("kind", "APIGroup").put("apiVersion", "v1");
    group.put("name", name);
    ArrayNode versions = group.putArray("versions");
    types.all().stream()
        .filter(t -> t.group().equals(name))
        .map(ResourceType::version)
        .distinct()
        .forEach(v -> versions.addObject().put("groupVersion", name + "/" + v).put("version", v));
    if (versions.isEmpty()) {
      throw ApiException.of(404, "NotFound", "the server has no API group " + name);
    }
    group.set("preferredVersion", versions.get(0));
    return group;
  }

  private ObjectNode resources(String group, String version) {
    ObjectNode list = Json.object().put("kind", "APIResourceList").put("apiVersion", "v1");
    list.put("groupVersion", group.isEmpty() ? version : group + "/" + version);
    ArrayNode found = list.putArray("resources");
    for (ResourceType type : types.all()) {
      if (type.group().equals(group) && type.version().equals(version)) {
        ObjectNode resource = add(found, type, type.plural());
        resources
            .custom(type)
            .map(CustomType::shortNames)
            .filter(names -> !names.isEmpty())
            .ifPresent(names -> names.forEach(resource.putArray("shortNames")::add));
        if (type.status()) {
          add(found, type, type.plural() + "/status");
        }
      }
    }
    return list;
  }

  private static ObjectNode add(ArrayNode to, ResourceType type, String name) {
    ObjectNode resource = to.addObject().put("name", name).put("kind", type.kind());
    resource.put("singularName", type.kind().toLowerCase(java.util.Locale.ROOT));
    resource.put("namespaced", type.namespaced());
    ArrayNode verbs = resource.putArray("verbs");
    VERBS.forEach(verbs::add);
    return resource;
  }
}
