package dev.kastor.operator.web;

import static io.restassured.RestAssured.given;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.emptyOrNullString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.not;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.crds.trainingjob.GoodputSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.FakeApiServer;
import dev.kastor.operator.TestJobs;
import dev.kastor.scheduler.live.JobDocument;
import dev.kastor.scheduler.live.LiveCluster;
import dev.kastor.scheduler.live.LiveDocument;
import dev.kastor.scheduler.live.LiveJob;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobSpec;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.restassured.response.Response;
import jakarta.inject.Inject;
import java.time.Instant;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

// As in the operator's tests: a null would fail the test as it should.
@NullUnmarked
@QuarkusTest
@TestProfile(ClusterPage.class)
@QuarkusTestResource(FakeApiServer.class)
@Tag("slow")
class SnapshotResourceTest {
  private static final Instant CREATED = Instant.parse("2026-01-01T00:00:00Z");

  @Inject KubernetesClient client;

  @ConfigProperty(name = "kastor.policy")
  String policy;

  @BeforeAll
  static void logIn() {
    ClusterPage.askAsAdmin();
  }

  @AfterAll
  static void logOut() {
    ClusterPage.askAsNobody();
  }

  @AfterEach
  void empty() throws Exception {
    new TestCluster(client).deleteAll();
    while (!snapshot().jobs().isEmpty() || !snapshot().nodes().isEmpty()) {
      Thread.sleep(20);
    }
  }

  private static LiveCluster snapshot() throws JsonProcessingException {
    String text = given().get("/api/v1/snapshot").then().statusCode(200).extract().asString();
    return new ObjectMapper().readValue(text, LiveDocument.class).cluster();
  }

  private static Response submitted(String job) {
    return given().contentType("application/json").body(job).post("/api/v1/snapshot/job");
  }

  private static String json(TrainingJob job) {
    return Serialization.asJson(job);
  }

  @Test
  void tellsWhatThePolicyWouldBeTold() throws Exception {
    new TestCluster(client)
        .node("n1", 2)
        .node("n2", 4)
        .job(
            "a",
            "glyph-mlp",
            1,
            4,
            CREATED,
            """
            phase: Running
            allocation: {replicas: 2, nodes: {n1: 2}, version: 2, since: "2026-01-01T00:01:00Z", reason: Grow, message: two slots became free}
            """);
    new TestCluster(client).job("b", "glyph-mlp", 2, 4, CREATED.plusSeconds(1), "phase: Queued");
    LiveCluster live = snapshot();
    while (live.jobs().size() < 2 || live.nodes().size() < 2) {
      Thread.sleep(50);
      live = snapshot();
    }
    assertThat(live.nodes())
        .extracting(node -> node.name() + ":" + node.slots())
        .containsExactly("n1:2", "n2:4");
    assertThat(live.jobs())
        .extracting(LiveJob::id)
        .containsExactly(new JobId("default", "a"), new JobId("default", "b"));
    assertThat(live.jobs().getFirst().state().allocation()).isEqualTo(Allocation.on("n1", 2));
    assertThat(live.jobs().getLast().state().spec().elasticity().min()).isEqualTo(2);
    assertThat(live.policy()).isEqualTo(policy);
    assertThat(live.held()).isZero();
  }

  @Test
  void tellsOfAJobThatNobodySubmitted() throws Exception {
    TrainingJob job = TestJobs.job("bert", 1, 3, GoodputSpec.Mode.Adaptive);
    String text = submitted(json(job)).then().statusCode(200).extract().asString();
    LiveJob told = new ObjectMapper().readValue(text, JobDocument.class).job();
    assertThat(told.id()).isEqualTo(new JobId("team", "bert"));
    assertThat(told.state().spec().elasticity()).isInstanceOf(Elasticity.Adaptive.class);
    assertThat(told.state().spec().elasticity().max()).isEqualTo(3);
    assertThat(told.state().allocation().isEmpty()).isTrue();
    assertThat(told.state().age()).isZero();
    assertThat(client.resources(TrainingJob.class).inAnyNamespace().list().getItems()).isEmpty();
  }

  @Test
  void tellsOfTheWorkThatASpecDeclares() throws Exception {
    String epochs = json(TestJobs.job("bert", 1, 3, GoodputSpec.Mode.Adaptive));
    JobSpec spec = declared(epochs);
    assertThat(spec.declaredSteps()).as("only its program knows").isZero();
    String work = "\"work\":\\{[^}]*}";
    assertThat(declared(epochs.replaceAll(work, "\"work\":{\"steps\":300}")).declaredSteps())
        .isEqualTo(300);
    assertThat(declared(epochs.replaceAll(work, "\"work\":{\"examples\":6400}")).declaredSteps())
        .isEqualTo(6400.0 / spec.batchLimits().initialGlobalBatch());
  }

  private JobSpec declared(String job) throws Exception {
    String told = submitted(job).then().statusCode(200).extract().asString();
    return new ObjectMapper().readValue(told, JobDocument.class).job().state().spec();
  }

  @Test
  void refusesWhatIsNoJobAndWhatItsQueueWouldNotTake() {
    for (String wrong : new String[] {"", "[]", "{}", "nonsense", "{\"spec\": {}}"}) {
      submitted(wrong).then().statusCode(400).body("error", containsString("TrainingJob"));
    }
    TrainingJob job = TestJobs.job("bert", 1, 3, GoodputSpec.Mode.Adaptive);
    submitted(json(job).replace("\"spec\":{", "\"spec\":{\"queue\":\"nowhere\","))
        .then()
        .statusCode(400)
        .body("error", containsString("nowhere"));
    submitted(json(job).replaceAll("\"goodput\":", "\"other\":")).then().statusCode(400);
    given().body("x").contentType("text/plain").post("/api/v1/snapshot/job").then().statusCode(415);
    given().get("/api/v1/snapshot/job").then().statusCode(equalTo(405));
  }

  @Test
  void answersWhatAChangeWouldBring() throws Exception {
    new TestCluster(client).node("n1", 2).job("a", "glyph-mlp", 1, 2, CREATED, "phase: Queued");
    while (snapshot().jobs().isEmpty() || snapshot().nodes().isEmpty()) {
      Thread.sleep(50);
    }
    given()
        .get("/api/v1/whatif")
        .then()
        .statusCode(200)
        .body("policy", equalTo(policy))
        .body("nodes[0].gpuType", equalTo("cpu"))
        .body("jobs[0].name", equalTo("a"));
    asked("{\"nodes\": {\"count\": 1, \"gpuType\": \"cpu\"}, \"like\": \"default/a\"}")
        .then()
        .statusCode(200)
        .body("sentence", containsString("default/a-again would start at once"))
        .body("added[0].name", equalTo("a-again"))
        .body("jobs[0].runs", equalTo(false));
    assertThat(client.resources(TrainingJob.class).inAnyNamespace().list().getItems()).hasSize(1);
  }

  @Test
  void refusesQuestionsThatNameWhatThereIsNot() {
    for (String wrong :
        new String[] {
          "",
          "[]",
          "{}",
          "null",
          "x",
          "{\"nodes\": 1}",
          "{\"other\": 1}",
          "{\"policy\": \"best\"}",
          "{\"queue\": {\"name\": \"none\", \"gpus\": 1}}",
          "{\"like\": \"default/none\"}",
          "{\"like\": \"none\"}",
          "{\"priority\": {\"job\": \"default/none\", \"priority\": 1}}",
          "{\"nodes\": {\"count\": 5000, \"gpuType\": \"cpu\"}}"
        }) {
      asked(wrong).then().statusCode(400).body("error", not(emptyOrNullString()));
    }
  }

  private static Response asked(String question) {
    return given().contentType("application/json").body(question).post("/api/v1/whatif");
  }
}
