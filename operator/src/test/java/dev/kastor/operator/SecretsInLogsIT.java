package dev.kastor.operator;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.common.http.TestHTTPResource;
import io.quarkus.test.junit.QuarkusTest;
import java.net.URI;
import java.util.Base64;
import java.util.logging.Level;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;

/** The operator at its most talkative, while a job comes, is reported of, attacked and goes. */
// As in the operator's other tests.
@NullUnmarked
@QuarkusTest
@QuarkusTestResource(FakeApiServer.class)
class SecretsInLogsIT {
  @TestHTTPResource(value = "/", tls = true)
  URI base;

  @Test
  void noTokenOrSecretIsLogged() throws Exception {
    String url = base.toString();
    AgentClient api =
        new AgentClient(url.substring(0, url.length() - 1), FakeApiServer.certificate());
    String guess = "guess-that-is-nobodys-business";
    // As quarkus.log.level=DEBUG sets it.
    try (CapturedLog log = new CapturedLog("", Level.FINE)) {
      String token;
      String secret;
      try (LoneReplica replica = new LoneReplica(FakeApiServer.client(), api, "told")) {
        token = replica.token;
        secret =
            FakeApiServer.client()
                .secrets()
                .inNamespace(LoneReplica.NAMESPACE)
                .withName(replica.job + "-ring")
                .get()
                .getData()
                .get("secret");
        assertThat(replica.report().statusCode()).isEqualTo(204);
        for (String bad : new String[] {guess, token + "x"}) {
          assertThat(api.post(replica.path("telemetry"), bad, new byte[2]).statusCode())
              .isIn(401, 403);
        }
        for (int i = 0; i < 25; i++) {
          api.post(replica.path("telemetry"), token, new byte[2]);
        }
      }
      assertThat(log.lines())
          .as("something was said, at all levels")
          .anyMatch(line -> line.startsWith("INFO"))
          .anyMatch(line -> line.contains("refused: 401"))
          .noneMatch(line -> line.contains(token) || line.contains(guess))
          .noneMatch(line -> line.contains(secret))
          .noneMatch(
              line -> line.contains(new String(Base64.getDecoder().decode(secret), ISO_8859_1)));
    }
  }
}
