package dev.kastor.operator.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.GoodputSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.TestJobs;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.mockwebserver.http.RecordedRequest;
import java.net.InetAddress;
import java.util.AbstractMap;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StatusWriterTest {
  private static final String PATH =
      "/apis/kastor.dev/v1alpha1/namespaces/team/trainingjobs/bert/status";

  private final KubernetesMockServer server = new KubernetesMockServer(false);
  private final TrainingJob job = TestJobs.job("bert", 1, 4, GoodputSpec.Mode.Adaptive);
  private final KubernetesClient client;
  private final StatusWriter writer;

  StatusWriterTest() {
    server.init(InetAddress.getLoopbackAddress(), 0);
    Config config = server.createClient().getConfiguration();
    // As in the operator.
    config.setRequestRetryBackoffLimit(0);
    client = new KubernetesClientBuilder().withConfig(config).build();
    writer = new StatusWriter(new JobRecords(), client);
  }

  @AfterEach
  void stop() {
    client.close();
    server.destroy();
  }

  @Test
  void aWriteIsOneRequest() throws InterruptedException {
    server.expect().patch().withPath(PATH).andReturn(200, job).always();

    for (long pod = 1; pod <= 3; pod++) {
      assertThat(writer.patch(job, Map.of("nextPod", pod))).isTrue();
    }

    assertThat(server.getRequestCount()).isEqualTo(3);
    RecordedRequest request = server.takeRequest();
    assertThat(request.method()).hasToString("PATCH");
    assertThat(request.getHeaders().header("Content-Type"))
        .startsWith("application/merge-patch+json");
    assertThat(request.getBody().readUtf8())
        .isEqualTo("{\"metadata\":{\"uid\":\"uid-of-bert\"},\"status\":{\"nextPod\":1}}");
  }

  @Test
  void whatCanWaitTravelsWithTheNextWrite() throws InterruptedException {
    server.expect().patch().withPath(PATH).andReturn(200, job).always();

    writer.postpone(job, Map.of("nextPod", 2L));
    writer.patch(job, Map.of("restarts", 1));
    writer.flush(job);

    assertThat(server.getRequestCount()).isEqualTo(1);
    assertThat(server.takeRequest().getBody().readUtf8())
        .contains("\"nextPod\":2", "\"restarts\":1");
  }

  @Test
  void whatCanWaitIsWrittenInTheEndEvenAlone() throws InterruptedException {
    server.expect().patch().withPath(PATH).andReturn(200, job).always();

    writer.postpone(job, Map.of("nextPod", 2L));
    writer.flush(job);
    writer.flush(job);

    assertThat(server.getRequestCount()).isEqualTo(1);
    assertThat(server.takeRequest().getBody().readUtf8()).contains("\"nextPod\":2");
  }

  @Test
  void whatCanWaitSurvivesAPatchThatFails() throws InterruptedException {
    server.expect().patch().withPath(PATH).andReturn(500, null).times(2);
    server.expect().patch().withPath(PATH).andReturn(429, null).once();
    server.expect().patch().withPath(PATH).andReturn(200, job).always();

    writer.postpone(job, Map.of("nextPod", 2L, "starts", List.of("early")));
    Assertions.assertThatThrownBy(() -> writer.patch(job, Map.of("nextPod", 3L)))
        .isInstanceOf(KubernetesClientException.class);
    Assertions.assertThatThrownBy(() -> writer.flush(job))
        .isInstanceOf(KubernetesClientException.class);
    writer.postpone(job, Map.of("starts", List.of("late")));
    Assertions.assertThatThrownBy(() -> writer.flush(job))
        .isInstanceOf(KubernetesClientException.class);
    writer.flush(job);
    writer.flush(job);

    assertThat(statuses())
        .containsExactly(
            "{\"starts\":[\"early\"],\"nextPod\":3}",
            "{\"starts\":[\"early\"]}",
            "{\"starts\":[\"late\"]}",
            "{\"starts\":[\"late\"]}");
  }

  @Test
  void whatIsRefusedForItselfDoesNotHoldUpLaterPatches() throws InterruptedException {
    server.expect().patch().withPath(PATH).andReturn(422, null).once();
    server.expect().patch().withPath(PATH).andReturn(200, job).always();

    writer.postpone(job, Map.of("nextPod", 2L));
    Assertions.assertThatThrownBy(() -> writer.flush(job))
        .isInstanceOf(KubernetesClientException.class);
    writer.patch(job, Map.of("restarts", 1));

    assertThat(statuses()).containsExactly("{\"nextPod\":2}", "{\"restarts\":1}");
  }

  @Test
  void aPatchThatFailedDoesNotHideWhatTheServerHas() throws InterruptedException {
    server.expect().patch().withPath(PATH).andReturn(200, job).once();
    server.expect().patch().withPath(PATH).andReturn(500, null).once();
    server.expect().patch().withPath(PATH).andReturn(200, job).always();

    writer.patch(job, Map.of("allocation", Map.of("nodes", Map.of("a", 1, "b", 1))));
    Assertions.assertThatThrownBy(
            () -> writer.patch(job, Map.of("allocation", Map.of("nodes", Map.of("c", 1)))))
        .isInstanceOf(KubernetesClientException.class);
    writer.patch(job, Map.of("allocation", Map.of("nodes", Map.of("d", 1))));
    writer.patch(job, Map.of("allocation", Map.of("nodes", Map.of("d", 2))));

    List<String> sent = statuses();
    assertThat(sent.get(2)).contains("\"a\":null", "\"b\":null", "\"c\":null", "\"d\":1");
    assertThat(sent.get(3)).isEqualTo("{\"allocation\":{\"nodes\":{\"d\":2}}}");
  }

  @Test
  void whatWasPostponedFirstIsNotSentLast() throws InterruptedException {
    server.expect().patch().withPath(PATH).andReturn(200, job).always();
    List<Thread> others = new ArrayList<>();
    // Asked for while the first patch is put together: then a second one is on its way as well.
    Map<String, Integer> fields =
        new AbstractMap<>() {
          @Override
          public Set<Map.Entry<String, Integer>> entrySet() {
            if (others.isEmpty()) {
              others.add(Thread.ofPlatform().start(StatusWriterTest.this::sayLate));
              awaitBlockedOrEnded(others.getFirst());
            }
            return Set.of(Map.entry("restarts", 1));
          }
        };

    writer.postpone(job, Map.of("starts", List.of("early")));
    writer.patch(job, fields);
    others.getFirst().join();

    assertThat(statuses()).last().asString().contains("late");
  }

  private void sayLate() {
    writer.postpone(job, Map.of("starts", List.of("late")));
    writer.flush(job);
  }

  private static void awaitBlockedOrEnded(Thread thread) {
    while (thread.isAlive() && thread.getState() != Thread.State.BLOCKED) {
      Thread.onSpinWait();
    }
  }

  /** Fields of the status in all patches so far, as they came. */
  private List<String> statuses() throws InterruptedException {
    List<String> all = new ArrayList<>();
    for (int i = 0, sent = server.getRequestCount(); i < sent; i++) {
      String body = server.takeRequest().getBody().readUtf8();
      all.add(body.replaceFirst("^.*\"status\":", "").replaceFirst("}$", ""));
    }
    return all;
  }

  @Test
  void aJobThatIsGoneOrWasReplacedIsNoError() {
    server.expect().patch().withPath(PATH).andReturn(404, null).once();
    server.expect().patch().withPath(PATH).andReturn(409, null).once();

    assertThat(writer.patch(job, Map.of("nextPod", 1L))).isFalse();
    assertThat(writer.patch(job, Map.of("nextPod", 1L))).isFalse();
  }

  @Test
  void aRefusalNamesItsCode() {
    server.expect().patch().withPath(PATH).andReturn(403, null).always();

    Assertions.assertThatThrownBy(() -> writer.patch(job, Map.of("nextPod", 1L)))
        .isInstanceOfSatisfying(
            KubernetesClientException.class, e -> assertThat(e.getCode()).isEqualTo(403));
  }
}
