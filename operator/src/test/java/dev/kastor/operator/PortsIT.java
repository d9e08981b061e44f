package dev.kastor.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.common.http.TestHTTPResource;
import io.quarkus.test.junit.QuarkusTest;
import io.vertx.ext.web.Router;
import jakarta.inject.Inject;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each route on each port: agents' on the TLS port, all others on the plain one. */
// As in the operator's other tests.
@NullUnmarked
@QuarkusTest
@QuarkusTestResource(FakeApiServer.class)
@Timeout(120)
class PortsIT {
  /** What a request without a token is answered on both ports. */
  private record Answers(int plain, int tls) {}

  private static final Answers OPEN = new Answers(200, 404);
  private static final Answers NO_SUCH_JOB = new Answers(404, 404);
  private static final Answers AGENTS = new Answers(403, 401);

  private static final Map<String, Answers> RESOURCES =
      Map.of(
          "GET /metrics", OPEN,
          "GET /api/v1/overview", OPEN,
          "GET /api/v1/timeline", OPEN,
          "GET /api/v1/queues", OPEN,
          "GET /api/v1/events", OPEN,
          "GET /api/v1/jobs/{namespace}/{name}/history", NO_SUCH_JOB,
          "GET /api/v1/jobs/{namespace}/{name}/decision", NO_SUCH_JOB,
          "POST /v1/jobs/{namespace}/{name}/telemetry", AGENTS,
          "GET /v1/jobs/{namespace}/{name}/membership", AGENTS);

  private static final Map<String, Answers> EXTENSIONS =
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

  @TestHTTPResource(value = "/", tls = true)
  URI tls;

  @TestHTTPResource("/")
  URI plain;

  @Inject Router router;

  @Test
  void everyRouteIsInTheTable() {
    assertThat(Routes.ofResources()).isEqualTo(new TreeSet<>(RESOURCES.keySet()));
    assertThat(Routes.ofExtensions(router)).containsExactly("GET /q/*");
  }

  @Test
  void eachPortAnswersItsOwnRoutesOnly() throws IOException {
    Map<String, Answers> seen = new TreeMap<>();
    Map<String, Answers> expected = table();
    for (String route : expected.keySet()) {
      seen.put(
          route,
          new Answers(
              status(false, method(route), path(route), "localhost"),
              status(true, method(route), path(route), "localhost")));
    }
    assertThat(seen).isEqualTo(expected);
  }

  @Test
  void noSpellingOfAPathOpensTheTlsPort() throws IOException {
    List<String> opened = new ArrayList<>();
    for (String route : table().keySet()) {
      for (String spelling : spellings(path(route))) {
        int status = status(true, method(route), spelling, "localhost");
        if (!Set.of(400, 401, 404).contains(status)) {
          opened.add(status + " " + spelling);
        }
      }
    }
    assertThat(opened).isEmpty();
  }

  @Test
  void noSpellingOfAPathOpensThePlainPortToAnotherHost() throws IOException {
    List<String> opened = new ArrayList<>();
    try (CapturedLog log = new CapturedLog()) {
      openedToOthers(opened);
      assertThat(log.lines())
          .filteredOn(line -> line.startsWith("SEVERE") || line.startsWith("ERROR"))
          .isEmpty();
    }
    assertThat(opened).isEmpty();
  }

  private void openedToOthers(List<String> opened) throws IOException {
    for (String route : table().keySet()) {
      List<String> paths = new ArrayList<>(spellings(path(route)));
      paths.add(path(route));
      for (String spelling : paths) {
        for (String host :
            List.of("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "")) {
          int status = status(false, method(route), spelling, host);
          if (!Set.of(400, 403, 404, 405).contains(status)) {
            opened.add("%d %s of '%s'".formatted(status, spelling, host));
          }
        }
      }
    }
  }

  @Test
  void loopbackHasManyNames() throws IOException {
    for (String host :
        List.of("localhost", "localhost:1", "127.0.0.1", "127.0.0.1:8080", "[::1]")) {
      assertThat(status(false, "GET", "/api/v1/overview", host)).as(host).isEqualTo(200);
    }
  }

  @Test
  void clearHttp2IsNotSpoken() throws IOException {
    try (RawHttp raw = new RawHttp(plain)) {
      raw.send(
          "GET /metrics HTTP/1.1\nHost: localhost\nConnection: Upgrade, HTTP2-Settings\nUpgrade: h2c\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\n\n",
          new byte[0]);
      assertThat(raw.read().status()).isEqualTo(200);
    }
  }

  private Map<String, Answers> table() throws IOException {
    Map<String, Answers> all = new TreeMap<>(RESOURCES);
    all.putAll(EXTENSIONS);
    all.put("GET /", OPEN);
    all.put("GET /_static/echarts/6.0.0/dist/echarts.esm.min.js", OPEN);
    Routes.ofPage().forEach(file -> all.put(file, OPEN));
    return all;
  }

  /** The path written in other ways; a server may take each for the same one. */
  private static List<String> spellings(String path) {
    String rest = path.substring(1);
    String first =
        rest.isEmpty() ? "" : "%%%02x".formatted((int) rest.charAt(0)) + rest.substring(1);
    return List.of(
        path + ";x",
        path + ";x=1/",
        path.replaceFirst("/([^/]*)", "/$1;x"),
        path + "%3bx",
        "/" + path,
        "/./" + rest,
        "/x/../" + rest,
        "/v1/../" + rest,
        "/v1/jobs/a/b/membership/../../../../../" + rest,
        "/v1/jobs/a/b/telemetry/..%2f..%2f..%2f..%2f..%2f" + rest,
        "/%2e/" + rest,
        "/" + first,
        path + "/",
        path + "?x=;y",
        path + "%00",
        path.replace("/", "%2f").replaceFirst("%2f", "/"),
        "http://localhost" + path,
        "http://localhost/v1/../" + rest,
        "\\" + rest);
  }

  private int status(boolean secure, String method, String path, String host) throws IOException {
    try (RawHttp raw = secure ? secure() : new RawHttp(plain)) {
      String body = method.equals("POST") ? "Content-Length: 0\n" : "";
      String named = host.isEmpty() ? "" : "Host: " + host + "\n";
      raw.send("%s %s HTTP/1.1\n%s%s\n".formatted(method, path, named, body), new byte[0]);
      return raw.status();
    }
  }

  private RawHttp secure() throws IOException {
    return new RawHttp(AgentClient.trusting(FakeApiServer.certificate()), tls);
  }

  private static String method(String route) {
    return route.substring(0, route.indexOf(' '));
  }

  private static String path(String route) {
    return route
        .substring(route.indexOf(' ') + 1)
        .replace("{namespace}", "team")
        .replace("{name}", "none")
        .replace("*", "");
  }
}
