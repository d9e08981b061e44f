package dev.kastor.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.common.http.TestHTTPResource;
import io.quarkus.test.junit.QuarkusTest;
import io.vertx.ext.web.Router;
import jakarta.inject.Inject;
import java.io.EOFException;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Each route on each port: agents' on the TLS port, all others on the plain one. */
// As in the operator's other tests.
@NullUnmarked
@QuarkusTest
@QuarkusTestResource(FakeApiServer.class)
@Tag("never-retried")
class PortsIT {
  @TestHTTPResource(value = "/", tls = true)
  URI tls;

  @TestHTTPResource("/")
  URI plain;

  @Inject Router router;

  /** One for all connections: sessions are resumed, and hundreds of them are quick. */
  private final SSLContext trusting = AgentClient.trusting(FakeApiServer.certificate());

  @Test
  void everyRouteIsInTheTable() {
    assertThat(Routes.ofResources()).isEqualTo(new TreeSet<>(PortTable.RESOURCES.keySet()));
    assertThat(Routes.ofExtensions(router)).containsExactly("GET /q/*");
  }

  @Test
  void eachPortAnswersItsOwnRoutesOnly() throws IOException {
    Map<String, PortTable.Answers> seen = new TreeMap<>();
    Map<String, PortTable.Answers> expected = PortTable.all();
    for (String route : expected.keySet()) {
      seen.put(
          route,
          new PortTable.Answers(
              status(false, method(route), path(route), "localhost"),
              status(true, method(route), path(route), "localhost")));
    }
    assertThat(seen).isEqualTo(expected);
  }

  @Test
  void noSpellingOfAPathOpensTheTlsPort() throws IOException {
    List<String> opened = new ArrayList<>();
    for (String route : PortTable.all().keySet()) {
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
  void aHostThatNobodyCanReadEndsItsConnectionAndFillsNoLog() throws IOException {
    try (CapturedLog log = new CapturedLog();
        RawHttp connection = new RawHttp(plain)) {
      connection.send(RawHttp.request("GET /metrics HTTP/1.1\nHost: %:1\n\n", new byte[0]));
      assertThatThrownBy(connection::read).isInstanceOf(EOFException.class);
      assertThat(log.lines())
          .filteredOn(line -> line.startsWith("SEVERE") || line.startsWith("ERROR"))
          .isEmpty();
    }
    assertThat(status(false, "GET", "/metrics", "localhost")).isEqualTo(200);
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
    for (String route : PortTable.all().keySet()) {
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
    return new RawHttp(trusting, tls);
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
