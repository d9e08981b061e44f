package dev.kastor.operator.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.GoodputSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.CrudServer;
import dev.kastor.operator.TestJobs;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

// What the test waits for is there; a null would fail it as it should.
@NullUnmarked
class PodNumbersTest {
  private final KubernetesMockServer server = CrudServer.start();
  private final KubernetesClient client = server.createClient();
  private final StatusWriter writer = new StatusWriter(new JobRecords(), client);
  private final TrainingJob job =
      client
          .resources(TrainingJob.class)
          .inNamespace("team")
          .resource(TestJobs.job("bert", 1, 8, GoodputSpec.Mode.Adaptive))
          .create();
  private final PodNumbers numbers = new PodNumbers(new JobRecords(), writer);

  @AfterEach
  void stop() {
    client.close();
    server.destroy();
  }

  private long stored() {
    writer.flush(job);
    return client
        .resources(TrainingJob.class)
        .inNamespace("team")
        .withName("bert")
        .get()
        .getStatus()
        .nextPod();
  }

  @Test
  void noNumberIsGivenTwice() {
    assertThat(numbers.reserve(job, 0, 4)).isZero();
    assertThat(numbers.reserve(job, 4, 2)).isEqualTo(4);
    assertThat(numbers.reserve(job, 9, 1)).as("above the pods that there are").isEqualTo(9);
    assertThat(stored()).isEqualTo(10);
  }

  @Test
  void numbersOfPodsThatWereRefusedAreGivenToLaterOnes() {
    assertThat(numbers.reserve(job, 0, 4)).isZero();
    numbers.giveBack(job, 2);
    assertThat(numbers.reserve(job, 2, 2)).isEqualTo(2);
    numbers.giveBack(job, 2);
    numbers.giveBack(job, 2);
    assertThat(stored()).isEqualTo(4);
    assertThat(numbers.reserve(job, 2, 1)).isEqualTo(2);
    assertThat(numbers.reserve(job, 3, 3)).as("the rest and more").isEqualTo(3);
    assertThat(stored()).isEqualTo(6);
    assertThat(numbers.reserve(job, 6, 1)).isEqualTo(6);
  }

  @Test
  void whatOthersTookMeanwhileIsNotGivenAgain() {
    assertThat(numbers.reserve(job, 0, 4)).isZero();
    numbers.giveBack(job, 1);
    assertThat(numbers.reserve(job, 3, 1)).as("there is a pod of number 2").isEqualTo(3);
  }
}
