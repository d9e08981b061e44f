package dev.kastor.local.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
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

  @Test
  void badLinesAreSkippedAndWhatFollowsThemIsKept() throws IOException {
    try (ApiServer server = start()) {
      for (String name : List.of("first", "second", "third")) {
        create(server, name);
      }
    }
    Path journal = folder.resolve("objects");
    List<String> lines = new ArrayList<>(Files.readAllLines(journal));
    lines.add(1, lines.get(1).substring(0, 40));
    lines.add(2, "\u0000\u0000 no JSON");
    lines.add(3, "[]");
    Files.write(journal, lines);
    try (ApiServer server = start()) {
      assertThat(names(server)).containsExactly("first", "second", "third");
    }
  }

  @Test
  void aLineWithoutItsEndWasNeverAcceptedAndHoldsUpNothing() throws IOException {
    try (ApiServer server = start()) {
      create(server, "first");
    }
    Path journal = folder.resolve("objects");
    Files.writeString(journal, "{\"uid\": \"cut", StandardOpenOption.APPEND);
    try (ApiServer server = start()) {
      create(server, "second");
    }
    try (ApiServer server = start()) {
      assertThat(names(server)).containsExactly("first", "second");
    }
  }

  @Tag("slow")
  @Test
  void isRewrittenWhileTheServerRuns() throws IOException {
    String mebibyte = "x".repeat(1 << 20);
    ResourceType maps = ResourceTypes.CONFIG_MAP;
    try (ApiServer server = start()) {
      create(server, "constant");
      create(server, "grows");
      for (int i = 0; i < 100; i++) {
        server
            .resources()
            .update(maps, "default", "grows", configMap("grows", i + mebibyte), Options.PLAIN);
        assertThat(Files.size(folder.resolve("objects"))).isLessThan(6 << 20);
      }
    }
    try (ApiServer server = start()) {
      assertThat(names(server)).containsExactly("constant", "grows");
      assertThat(server.resources().get(maps, "default", "grows").at("/data/k").asText())
          .isEqualTo("99" + mebibyte);
    }
  }

  private static void create(ApiServer server, String name) {
    server
        .resources()
        .create(ResourceTypes.CONFIG_MAP, "default", configMap(name, "1"), Options.PLAIN);
  }

  private static List<String> names(ApiServer server) {
    return server.resources().list(ResourceTypes.CONFIG_MAP, "default").stream()
        .map(Json::name)
        .toList();
  }
}
