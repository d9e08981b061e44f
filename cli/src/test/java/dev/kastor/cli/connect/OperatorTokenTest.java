package dev.kastor.cli.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.kastor.cli.Terminal;
import dev.kastor.cli.terminal.ExitCode;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An operator that wants to know who asks. */
@Tag("never-retried")
final class OperatorTokenTest {
  @TempDir Path home;
  private Terminal terminal;
  private HttpServer http;
  private final List<String> shown = new CopyOnWriteArrayList<>();

  @BeforeEach
  void start() throws IOException {
    terminal = new Terminal(home);
    http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    http.createContext(
        "/",
        exchange -> {
          String token = exchange.getRequestHeaders().getFirst("Authorization");
          shown.add(String.valueOf(token));
          boolean known = "Bearer good".equals(token);
          byte[] body = (known ? "[]" : "{\"error\":\"who?\"}").getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(known ? 200 : 401, body.length);
          try (OutputStream out = exchange.getResponseBody()) {
            out.write(body);
          }
        });
    http.start();
  }

  @AfterEach
  void stop() {
    http.stop(0);
    terminal.close();
  }

  @Tag("slow")
  @Test
  void aTokenIsShownOnlyWhenAskedFor() throws IOException {
    Terminal.Result queue =
        terminal.run("queue", "--operator", url(), "--operator-token", token("good"));
    assertThat(queue.err()).isEmpty();
    assertThat(queue.code()).isEqualTo(ExitCode.OK);
    assertThat(shown).containsExactly("null", "Bearer good");
  }

  @Tag("slow")
  @Test
  void aRefusedTokenIsNotRepeatedToTheUser() throws IOException {
    Terminal.Result queue =
        terminal.run("queue", "--operator", url(), "--operator-token", token("wrong-secret"));
    assertThat(shown).containsExactly("null", "Bearer wrong-secret");
    assertThat(queue.err()).contains("401").doesNotContain("wrong-secret");
  }

  @Tag("slow")
  @Test
  void withoutAFileTheKubeconfigsTokenIsShown() {
    terminal.run("queue", "--operator", url());
    assertThat(shown).containsExactly("null", "Bearer " + terminal.server.tokens().admin());
  }

  @Tag("slow")
  @Test
  void noTokenTravelsInTheClear() throws IOException {
    ClusterOptions options = new ClusterOptions();
    try (Cluster cluster = Cluster.connect(terminal.config())) {
      for (String open : new String[] {"http://operator.example:8080", "http://10.0.0.7:8080"}) {
        OperatorToken token = OperatorToken.at(URI.create(open), cluster, options);
        assertThatThrownBy(token::get).hasMessageContaining("must not travel in the clear");
      }
      for (String safe : new String[] {"https://operator.example", "http://localhost:8080"}) {
        OperatorToken token = OperatorToken.at(URI.create(safe), cluster, options);
        assertThat(catching(token)).isEqualTo(terminal.server.tokens().admin());
      }
    }
  }

  private static String catching(OperatorToken token) {
    try {
      return token.get();
    } catch (OperatorAway e) {
      return String.valueOf(e.getMessage());
    }
  }

  private String token(String text) throws IOException {
    return Files.writeString(home.resolve("token"), text + "\n").toString();
  }

  private String url() {
    return "http://127.0.0.1:" + http.getAddress().getPort();
  }
}
