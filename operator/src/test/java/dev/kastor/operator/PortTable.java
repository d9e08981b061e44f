package dev.kastor.operator;

import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.NullUnmarked;

/** Table of all routes with what each port answers. */
// As in the operator's other tests.
@NullUnmarked
final class PortTable {
  /** Statuses that a request without a token is answered with on both ports. */
  record Answers(int plain, int tls) {}

  private static final Answers OPEN = new Answers(200, 404);
  private static final Answers NO_SUCH_JOB = new Answers(404, 404);
  private static final Answers AGENTS = new Answers(403, 401);

  static final Map<String, Answers> RESOURCES =
      Map.ofEntries(
          Map.entry("GET /metrics", OPEN),
          Map.entry("GET /api/v1/overview", OPEN),
          Map.entry("GET /api/v1/timeline", OPEN),
          Map.entry("GET /api/v1/queues", OPEN),
          Map.entry("GET /api/v1/events", OPEN),
          Map.entry("GET /api/v1/usage", OPEN),
          Map.entry("GET /api/v1/snapshot", OPEN),
          Map.entry("GET /api/v1/recording", OPEN),
          Map.entry("GET /api/v1/whatif", OPEN),
          Map.entry("POST /api/v1/whatif", new Answers(415, 404)),
          Map.entry("POST /api/v1/snapshot/job", new Answers(415, 404)),
          Map.entry("GET /api/v1/jobs/{namespace}/{name}/history", NO_SUCH_JOB),
          Map.entry("GET /api/v1/jobs/{namespace}/{name}/decision", NO_SUCH_JOB),
          Map.entry("GET /api/v1/jobs/{namespace}/{name}/model.onnx", NO_SUCH_JOB),
          Map.entry("POST /v1/jobs/{namespace}/{name}/telemetry", AGENTS),
          Map.entry("POST /v1/jobs/{namespace}/{name}/steps", AGENTS),
          Map.entry("GET /v1/jobs/{namespace}/{name}/membership", AGENTS));

  static final Map<String, Answers> EXTENSIONS =
      Map.of(
          "GET /q/health", OPEN,
          "GET /q/health/live", OPEN,
          "GET /q/health/ready", OPEN,
          "GET /q/health/started", OPEN,
          "GET /q/health/well", OPEN,
          "GET /q/openapi", OPEN,
          "GET /q/openapi.json", OPEN,
          "GET /q/openapi.yaml", OPEN,
          "GET /q/swagger-ui", new Answers(404, 404),
          "GET /q/dev-ui", new Answers(404, 404));

  private PortTable() {}

  /** All routes, the files of the page too. */
  static Map<String, Answers> all() throws IOException {
    Map<String, Answers> all = new TreeMap<>(RESOURCES);
    all.putAll(EXTENSIONS);
    all.put("GET /", OPEN);
    all.put("GET /_static/echarts/6.0.0/dist/echarts.esm.min.js", OPEN);
    Routes.ofPage().forEach(file -> all.put(file, OPEN));
    return all;
  }

  /** Those that the plain port serves. */
  static Set<String> plain() throws IOException {
    return all().entrySet().stream()
        .filter(entry -> !entry.getValue().equals(AGENTS))
        .map(Map.Entry::getKey)
        .collect(Collectors.toUnmodifiableSet());
  }
}
