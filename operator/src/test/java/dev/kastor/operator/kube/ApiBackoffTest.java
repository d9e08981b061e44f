package dev.kastor.operator.kube;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.StandardHttpRequest;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class ApiBackoffTest {
  private Instant now = Instant.parse("2026-01-01T00:00:00Z");
  private final ApiBackoff backoff = new ApiBackoff(() -> now);

  @SuppressWarnings("NullAway") // Nobody looks at the tags of a request.
  private void send(String method) {
    HttpRequest.Builder builder = request(method);
    backoff.before(builder, builder.build(), null);
  }

  private void answer(int code, @Nullable String retryAfter) {
    backoff.answered(request("PATCH").build(), code, retryAfter);
  }

  private static HttpRequest.Builder request(String method) {
    return new StandardHttpRequest.Builder().uri("https://api/apis/x").method(method, null, null);
  }

  @Test
  void doesWhatRetryAfterAsks() {
    answer(429, "7");
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
    answer(500, null);
    answer(500, null);
    assertThatCode(() -> send("PATCH")).doesNotThrowAnyException();
    assertThat(backoff.lastTrouble()).isEqualTo(now);
    for (int i = 0; i < 10; i++) {
      answer(500, null);
    }
    now = now.plusMillis(4900);
    assertThatThrownBy(() -> send("PATCH")).isInstanceOf(KubernetesClientException.class);
    now = now.plusMillis(1500);
    assertThatCode(() -> send("PATCH")).as("never longer than 5 s").doesNotThrowAnyException();
    answer(200, null);
    answer(500, null);
    assertThatCode(() -> send("PATCH")).as("a success ends the row").doesNotThrowAnyException();
  }

  @Test
  void readsThatFailDoNotHoldChangesBack() {
    for (int i = 0; i < 10; i++) {
      backoff.answered(request("GET").build(), 500, "5");
    }
    assertThatCode(() -> send("PATCH")).doesNotThrowAnyException();
    assertThat(backoff.lastTrouble()).isEqualTo(now);
    for (int i = 0; i < 3; i++) {
      answer(500, null);
      backoff.answered(request("GET").build(), 200, null);
    }
    assertThatThrownBy(() -> send("PATCH"))
        .as("a read that works does not end the row")
        .isInstanceOf(KubernetesClientException.class);
  }

  @Test
  void whatNobodyCanWaitForIsBounded() {
    answer(503, "999999999");
    now = now.plusSeconds(76);
    assertThatCode(() -> send("PATCH")).doesNotThrowAnyException();
  }
}
