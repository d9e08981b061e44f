package dev.kastor.local.kubelet;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.local.api.Json;
import dev.kastor.local.api.ResourceType;
import dev.kastor.local.api.ResourceTypes;
import dev.kastor.local.api.Resources;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The variables and folder of a pod's process, with container paths made local ones. */
final class PodEnvironment {
  /** A reference to another variable, or two dollars that stand for one and begin none. */
  private static final Pattern REFERENCE =
      Pattern.compile("\\$\\$|\\$\\(([A-Za-z_][A-Za-z0-9_]*)\\)");

  private final Resources resources;
  private final ObjectNode pod;
  private final Map<String, Path> paths;

  /**
   * A builder of environments.
   *
   * @param paths local places of container paths
   */
  PodEnvironment(Resources resources, ObjectNode pod, Map<String, Path> paths) {
    this.resources = resources;
    this.pod = pod;
    this.paths = paths;
  }

  Map<String, String> of(JsonNode container) throws NotStartable {
    Map<String, String> environment = new LinkedHashMap<>();
    for (JsonNode variable : container.path("env")) {
      String value =
          variable.has("valueFrom")
              ? referred(variable.get("valueFrom"))
              : expanded(variable.path("value").asText(""), environment);
      environment.put(variable.path("name").asText(), local(value));
    }
    return environment;
  }

  /** The folder that the container names for its process; empty if it names none. */
  Optional<Path> workingDirectory(JsonNode container) throws NotStartable {
    String named = container.path("workingDir").asText("");
    if (named.isEmpty()) {
      return Optional.empty();
    }
    Path folder = Path.of(local(named));
    if (!folder.isAbsolute() || !Files.isDirectory(folder)) {
      throw NotStartable.ever(
          "its workingDir %s is no folder of this machine; local mode has no images: give the absolute path of one"
              .formatted(named));
    }
    return Optional.of(folder);
  }

  private String referred(JsonNode from) throws NotStartable {
    if (from.has("fieldRef")) {
      return DownwardApi.value(pod, from.at("/fieldRef/fieldPath").asText());
    }
    if (from.has("secretKeyRef")) {
      return key(ResourceTypes.SECRET, from.get("secretKeyRef"));
    }
    if (from.has("configMapKeyRef")) {
      return key(ResourceTypes.CONFIG_MAP, from.get("configMapKeyRef"));
    }
    throw NotStartable.now("a variable refers to something that local mode does not have");
  }

  private String key(ResourceType type, JsonNode reference) throws NotStartable {
    String name = reference.path("name").asText();
    String key = reference.path("key").asText();
    ObjectNode object = resources.find(type, Json.namespace(pod), name);
    JsonNode value = object == null ? null : object.path("data").get(key);
    if (value == null) {
      throw NotStartable.now("%s %s has no key %s".formatted(type.kind(), name, key));
    }
    return new String(PodVolumes.content(type, value), StandardCharsets.UTF_8);
  }

  private static String expanded(String value, Map<String, String> known) {
    return REFERENCE
        .matcher(value)
        .replaceAll(m ->
            Matcher.quoteReplacement(
                m.group(1) == null ? "$" : known.getOrDefault(m.group(1), m.group())));
  }

  private String local(String value) {
    for (Map.Entry<String, Path> path : paths.entrySet()) {
      if (value.equals(path.getKey())) {
        return path.getValue().toString();
      }
      if (value.startsWith(path.getKey() + "/")) {
        return path.getValue().resolve(value.substring(path.getKey().length() + 1)).toString();
      }
    }
    return value;
  }
}
