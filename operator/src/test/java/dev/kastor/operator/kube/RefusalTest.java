package dev.kastor.operator.kube;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RefusalTest {
  private static KubernetesClientException answer(int code, String message) {
    return new KubernetesClientException(
        "Failure executing: POST",
        code,
        new StatusBuilder().withCode(code).withMessage(message).build());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          403 | exceeded quota: gpus, requested: pods=1                          | true
          403 | unable to create new content in namespace a because it is being terminated | true
          403 | error looking up service account a/trainer: serviceaccount "trainer" not found | true
          403 | violates PodSecurity "restricted:latest": privileged             | true
          422 | Pod "a-0" is invalid: spec.priorityClassName                     | true
          400 | admission webhook "check.example.com" denied the request: no     | true
          409 | admission webhook "check.example.com" denied the request: no     | true
          500 | failed calling webhook "check.example.com": connection refused   | true
          404 | namespaces "team" not found                                      | true
          401 | Unauthorized                                                     | false
          409 | pods "a-0" already exists                                        | false
          409 | Operation cannot be fulfilled on resourcequotas "gpus"           | false
          429 | too many requests, please try again later                        | false
          500 | etcdserver: request timed out                                    | false
          503 | apiserver is shutting down                                       | false
          504 | Timeout: request did not complete within requested timeout       | false
          """)
  void anAnswerIsToldApartFromAServerThatIsAway(int code, String message, boolean refused) {
    KubernetesClientException failure = answer(code, message);
    assertThat(Refusal.is(failure)).isEqualTo(refused);
    RuntimeException thrown = Refusal.or(failure);
    if (refused) {
      assertThat(thrown)
          .isInstanceOfSatisfying(
              Refusal.class, refusal -> assertThat(refusal.words()).isEqualTo(message));
    } else {
      assertThat(thrown).isSameAs(failure);
    }
  }

  @Test
  void silenceIsNoAnswer() {
    assertThat(Refusal.is(new KubernetesClientException("", new IOException("timeout")))).isFalse();
    assertThat(Refusal.is(new NotSent("held back"))).isFalse();
  }
}
