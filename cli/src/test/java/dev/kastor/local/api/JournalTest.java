package dev.kastor.local.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class JournalTest {
  @TempDir Path folder;

  private ApiServer start() throws IOException {
    ApiServer server = ApiServer.start(0, (namespace, pod) -> folder.resolve(pod));
    server.persist(folder.resolve("objects"), ResourceTypes.CONFIG_MAP::equals);
    return server;
  }

  private static ObjectNode configMap(String name, String value) {
    ObjectNode map = Json.object();
    Json.metadata(map).put("name", name);
    map.putObject("data").put("k", value);
    return map;
  }

  @Test
  void bringsBackTheNewestStatesAndGoesOnCounting() throws IOException {
    long revision;
    ObjectNode before;
    try (ApiServer server = start()) {
      Resources resources = server.resources();
      ResourceType maps = ResourceTypes.CONFIG_MAP;
      resources.create(maps, "default", configMap("kept", "1"), Options.PLAIN);
      before = resources.update(maps, "default", "kept", configMap("kept", "2"), Options.PLAIN);
      resources.create(maps, "default", configMap("gone", "1"), Options.PLAIN);
      resources.delete(maps, "default", "gone", Deletion.DEFAULT);
      resources.create(ResourceTypes.SECRET, "default", configMap("other", "1"), Options.PLAIN);
      revision = Long.parseLong(before.at("/metadata/resourceVersion").asText());
    }
    Files.writeString(folder.resolve("objects"), "{\"uid\": \"cut", StandardOpenOption.APPEND);
    try (ApiServer server = start()) {
      Resources resources = server.resources();
      assertThat(resources.list(ResourceTypes.CONFIG_MAP, "default"))
          .extracting(Json::text)
          .containsExactly(Json.text(before));
      assertThat(resources.list(ResourceTypes.SECRET, "default")).isEmpty();
      assertThat(resources.revision()).isGreaterThanOrEqualTo(revision);
      resources.update(
          ResourceTypes.CONFIG_MAP, "default", "kept", configMap("kept", "3"), Options.PLAIN);
    }
    try (ApiServer server = start()) {
      ObjectNode last = server.resources().get(ResourceTypes.CONFIG_MAP, "default", "kept");
      assertThat(last.at("/data/k").asText()).isEqualTo("3");
    }
  }
}
