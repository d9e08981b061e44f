package dev.kastor.e2e.scale;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/** What the operator asked of the API server, as that one wrote it down. */
final class Audit {
  private static final ObjectMapper JSON = new ObjectMapper();
  private final Path file = Path.of(System.getenv("KASTOR_E2E_STATE"), "audit.log");

  /** A place in the log: all that comes is after it. */
  long here() throws IOException {
    return Files.exists(file) ? Files.size(file) : 0;
  }

  /** Requests since then by verb and resource, such as {@code patch trainingjobs/status}. */
  Map<String, Integer> since(long place) throws IOException {
    Map<String, Integer> counts = new TreeMap<>();
    try (FileChannel channel = FileChannel.open(file).position(place);
        BufferedReader lines =
            new BufferedReader(
                new InputStreamReader(Channels.newInputStream(channel), StandardCharsets.UTF_8))) {
      lines.lines().forEach(line -> counts.merge(request(line), 1, Integer::sum));
    }
    return counts;
  }

  private static String request(String line) {
    try {
      JsonNode entry = JSON.readTree(line);
      JsonNode object = entry.path("objectRef");
      String part = object.path("subresource").asText();
      int code = entry.path("responseStatus").path("code").asInt();
      return "%s %s%s%s"
          .formatted(
              entry.path("verb").asText(),
              object.path("resource").asText(),
              part.isEmpty() ? "" : "/" + part,
              code >= 400 ? " " + code : "");
    } catch (IOException e) {
      // The last line may be half written.
      return "unreadable";
    }
  }

  /** Entries whose request begins so. */
  static int count(Map<String, Integer> requests, String beginning) {
    return requests.entrySet().stream()
        .filter(entry -> entry.getKey().startsWith(beginning))
        .mapToInt(Map.Entry::getValue)
        .sum();
  }
}
