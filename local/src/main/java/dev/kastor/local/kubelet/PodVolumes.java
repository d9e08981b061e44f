package dev.kastor.local.kubelet;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.local.api.Json;
import dev.kastor.local.api.ResourceType;
import dev.kastor.local.api.ResourceTypes;
import dev.kastor.local.api.Resources;
import dev.kastor.local.api.Tokens;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Lays a pod's volumes out as files of its folder. */
final class PodVolumes {
  private final Resources resources;
  private final Tokens tokens;
  private final ObjectNode pod;
  private final Path folder;

  PodVolumes(Resources resources, Tokens tokens, ObjectNode pod, Path folder) {
    this.resources = resources;
    this.tokens = tokens;
    this.pod = pod;
    this.folder = folder;
  }

  /** Where each mount path of the container lies on this machine. */
  Map<String, Path> materialise(JsonNode container) throws IOException, NotStartable {
    Map<String, Path> volumes = new LinkedHashMap<>();
    for (JsonNode volume : pod.at("/spec/volumes")) {
      String name = volume.path("name").asText();
      volumes.put(name, materialise(volume, folder.resolve("volumes").resolve(name)));
    }
    Map<String, Path> mounts = new LinkedHashMap<>();
    for (JsonNode mount : container.path("volumeMounts")) {
      Path source = volumes.get(mount.path("name").asText());
      if (source == null) {
        throw NotStartable.now(
            "volume %s is mounted but not declared".formatted(mount.path("name").asText()));
      }
      mounts.put(
          mount.path("mountPath").asText(), inside(source, mount.path("subPath").asText("")));
    }
    return mounts;
  }

  private Path materialise(JsonNode volume, Path target) throws IOException, NotStartable {
    if (volume.has("hostPath")) {
      Path path = Path.of(volume.at("/hostPath/path").asText());
      if (volume.at("/hostPath/type").asText().equals("DirectoryOrCreate")) {
        PrivateFiles.directory(path);
      }
      return path;
    }
    PrivateFiles.directory(target);
    if (volume.has("projected")) {
      for (JsonNode source : volume.at("/projected/sources")) {
        project(source, target);
      }
    } else if (!volume.has("emptyDir")) {
      project(volume, target);
    }
    return target;
  }

  private void project(JsonNode source, Path target) throws IOException, NotStartable {
    if (source.has("secret")) {
      JsonNode secret = source.get("secret");
      String name = secret.path("secretName").asText(secret.path("name").asText());
      keys(ResourceTypes.SECRET, name, secret, target);
    } else if (source.has("configMap")) {
      JsonNode map = source.get("configMap");
      keys(ResourceTypes.CONFIG_MAP, map.path("name").asText(), map, target);
    } else if (source.has("serviceAccountToken")) {
      JsonNode wanted = source.get("serviceAccountToken");
      String token =
          tokens.issue(
              new Tokens.PodIdentity(
                  Json.namespace(pod),
                  pod.at("/spec/serviceAccountName").asText("default"),
                  Json.name(pod),
                  Json.uid(pod),
                  wanted.path("audience").asText("")));
      PrivateFiles.write(
          inside(target, wanted.path("path").asText()), token.getBytes(StandardCharsets.US_ASCII));
    } else if (source.has("downwardAPI")) {
      for (JsonNode item : source.at("/downwardAPI/items")) {
        String value = DownwardApi.value(pod, item.at("/fieldRef/fieldPath").asText());
        PrivateFiles.write(
            inside(target, item.path("path").asText()), value.getBytes(StandardCharsets.UTF_8));
      }
    } else {
      throw NotStartable.now(
          "volume %s is of a kind that local mode does not have (use secret, configMap, projected,"
                  .formatted(source.path("name").asText())
              + " downwardAPI, hostPath or emptyDir)");
    }
  }

  private void keys(ResourceType type, String name, JsonNode source, Path target)
      throws IOException, NotStartable {
    ObjectNode object = resources.find(type, Json.namespace(pod), name);
    if (object == null) {
      if (source.path("optional").asBoolean(false)) {
        return;
      }
      throw NotStartable.now("%s %s does not exist".formatted(type.kind(), name));
    }
    if (source.path("items").isEmpty()) {
      for (var entry : object.path("data").properties()) {
        PrivateFiles.write(inside(target, entry.getKey()), content(type, entry.getValue()));
      }
    }
    for (JsonNode item : source.path("items")) {
      JsonNode value = object.path("data").get(item.path("key").asText());
      if (value == null) {
        throw NotStartable.now(
            "%s %s has no key %s".formatted(type.kind(), name, item.path("key").asText()));
      }
      PrivateFiles.write(inside(target, item.path("path").asText()), content(type, value));
    }
  }

  static byte[] content(ResourceType type, JsonNode value) {
    return type.equals(ResourceTypes.SECRET)
        ? Base64.getDecoder().decode(value.asText())
        : value.asText().getBytes(StandardCharsets.UTF_8);
  }

  /** A path below a folder; a pod cannot write elsewhere through {@code ..}. */
  private static Path inside(Path folder, @Nullable String relative) throws NotStartable {
    Path path = folder.resolve(relative == null ? "" : relative).normalize();
    if (!path.startsWith(folder.normalize())) {
      throw NotStartable.now("path %s leaves its volume".formatted(relative));
    }
    return path;
  }
}
