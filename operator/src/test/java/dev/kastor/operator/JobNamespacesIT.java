package dev.kastor.operator;

import static dev.kastor.operator.TestBench.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.common.http.TestHTTPResource;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import java.net.URI;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;

/** An operator that runs the jobs of one namespace alone. */
// As in the operator's tests: a null would fail the test as it should.
@NullUnmarked
@QuarkusTest
@TestProfile(OtherSettings.class)
@QuarkusTestResource(FakeApiServer.class)
class JobNamespacesIT {
  @TestHTTPResource(value = "/", tls = true)
  URI base;

  private final TestBench bench = new TestBench();

  @Test
  void leavesJobsOfOtherNamespacesAsTheyAre() throws Exception {
    String url = base.toString();
    AgentClient client =
        new AgentClient(url.substring(0, url.length() - 1), FakeApiServer.certificate());
    try (FakeAgents _ = new FakeAgents(bench.client, client)) {
      bench.node("n1", 4);
      TrainingJob foreign =
          Serialization.unmarshal(
              """
              {"apiVersion": "kastor.dev/v1alpha1", "kind": "TrainingJob",
               "metadata": {"name": "foreign", "namespace": "elsewhere"},
               "spec": {"priority": 1000, "program": {"name": "glyph-mlp"},
                        "goodput": {"batchSize": {"initial": 32}, "learningRate": {"base": "0.1"},
                                    "work": {"epochs": 1}}}}
              """,
              TrainingJob.class);
      bench.client.resource(foreign).create();
      bench.program("");
      await("the job of its own namespace runs", () -> bench.in(Phase.Running));
      var resource =
          bench.client.resources(TrainingJob.class).inNamespace("elsewhere").withName("foreign");
      assertThat(resource.get().getStatus()).as("nobody looked at it").isNull();
      assertThat(bench.client.pods().inNamespace("elsewhere").list().getItems()).isEmpty();
      resource.delete();
      bench.clear();
    }
  }
}
