package dev.kastor.operator.kube;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.http.StandardHttpRequest;
import java.time.Instant;
import org.junit.jupiter.api.Test;

final class ApiBackoffTest {
  private Instant now = Instant.parse("2026-01-01T00:00:00Z");
  private final ApiBackoff backoff = new ApiBackoff(() -> now);

  @SuppressWarnings("NullAway") // Nobody looks at the tags of a request.
  private void send(String method) {
    var builder =
        new StandardHttpRequest.Builder().uri("https://api/apis/x").method(method, null, null);
    backoff.before(builder, builder.build(), null);
  }

  @Test
  void doesWhatRetryAfterAsks() {
    backoff.answered(429, "7");
    now = now.plusSeconds(6);
    assertThatThrownBy(() -> send("PATCH"))
        .isInstanceOf(KubernetesClientException.class)
        .hasMessageContaining("left alone");
    assertThatCode(() -> send("GET")).as("reads pass").doesNotThrowAnyException();
    now = now.plusSeconds(3);
    assertThatCode(() -> send("PATCH")).doesNotThrowAnyException();
    assertThat(backoff.lastTrouble()).as("a busy server is there").isEqualTo(Instant.EPOCH);
  }

  @Test
  void oneErrorIsNoneAndManyPauseLongerAndLonger() {
    backoff.answered(500, null);
    backoff.answered(500, null);
    assertThatCode(() -> send("PATCH")).doesNotThrowAnyException();
    assertThat(backoff.lastTrouble()).isEqualTo(now);
    for (int i = 0; i < 10; i++) {
      backoff.answered(500, null);
    }
    now = now.plusMillis(4900);
    assertThatThrownBy(() -> send("PATCH")).isInstanceOf(KubernetesClientException.class);
    now = now.plusMillis(1500);
    assertThatCode(() -> send("PATCH")).as("never longer than 5 s").doesNotThrowAnyException();
    backoff.answered(200, null);
    backoff.answered(500, null);
    assertThatCode(() -> send("PATCH")).as("a success ends the row").doesNotThrowAnyException();
  }

  @Test
  void whatNobodyCanWaitForIsBounded() {
    backoff.answered(503, "999999999");
    now = now.plusSeconds(76);
    assertThatCode(() -> send("PATCH")).doesNotThrowAnyException();
  }
}
