package dev.kastor.operator.web;

import static io.restassured.RestAssured.given;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.not;

import dev.kastor.crds.trainingjob.GoodputSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.FakeApiServer;
import dev.kastor.operator.TestJobs;
import dev.kastor.operator.history.JobHistory;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.Reason;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.restassured.specification.RequestSpecification;
import jakarta.inject.Inject;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Two tenants and an administrator before the same page. */
@QuarkusTest
@TestProfile(ClusterPage.class)
@QuarkusTestResource(FakeApiServer.class)
@Tag("slow")
@Tag("never-retried")
class TenantsTest {
  private static final Instant CREATED = Instant.parse("2026-01-01T00:00:00Z");

  @Inject KubernetesClient client;
  @Inject JobHistory history;

  @ConfigProperty(name = "quarkus.http.test-port")
  int port;

  @BeforeEach
  void submit() throws InterruptedException {
    new TestCluster(client).node("n1", 4);
    for (String tenant : new String[] {"blue", "red"}) {
      TrainingJob job = TestJobs.job("job-of-" + tenant, 1, 2, GoodputSpec.Mode.Adaptive);
      job.getMetadata().setNamespace(tenant);
      job.getMetadata().setUid(null);
      client.resource(job).create();
      history.allocated(
          new JobId(tenant, "job-of-" + tenant),
          Allocation.on("n1", 1),
          Reason.of("Start", "a slot was free"),
          CREATED);
    }
    while (as("user:admin").get("/api/v1/overview").jsonPath().getList("jobs").size() < 2) {
      Thread.sleep(50);
    }
  }

  @AfterEach
  void removeAll() {
    new TestCluster(client).deleteAll();
  }

  @Test
  void nobodySeesAnythingWithoutAToken() {
    for (String path :
        new String[] {
          "/api/v1/overview",
          "/api/v1/events",
          "/api/v1/timeline",
          "/api/v1/queues",
          "/api/v1/snapshot",
          "/api/v1/recording",
          "/api/v1/whatif",
          "/api/v1/usage?by=namespace",
          "/api/v1/jobs/blue/job-of-blue/history",
          "/api/v1/jobs/blue/job-of-blue/decision",
          "/api/v1/jobs/blue/job-of-blue/model.onnx",
          "//api/v1/overview",
          "/%61pi/v1/overview",
          "/api/v1/./overview",
        }) {
      String answer = given().urlEncodingEnabled(false).get(path).asString();
      assertThat(answer).as(path).doesNotContain("job-of");
    }
    given().get("/api/v1/overview").then().statusCode(401).header("WWW-Authenticate", "Bearer");
    as("user-of-nobody").get("/api/v1/overview").then().statusCode(401);
    as("kastor/blue/job-of-blue|blue|job-of-blue-0|uid")
        .get("/api/v1/overview")
        .then()
        .statusCode(401);
    as(FakeApiServer.userToken("blue", "elsewhere")).get("/api/v1/overview").then().statusCode(401);
    given().get("/").then().statusCode(200).body(containsString("access-token"));
  }

  @Test
  void noPageOfAnotherSiteStartsAnExport() {
    for (String site : new String[] {"cross-site", "same-site"}) {
      as("user:blue")
          .header("Sec-Fetch-Site", site)
          .get("/api/v1/jobs/blue/job-of-blue/model.onnx")
          .then()
          .statusCode(403)
          .body("error", containsString("own page only"));
    }
    as("user:blue")
        .header("Sec-Fetch-Site", "same-origin")
        .get("/api/v1/jobs/blue/job-of-blue/model.onnx")
        .then()
        .statusCode(404);
  }

  @Test
  void noPageOfAnotherSiteMakesTheOperatorWork() {
    for (String site : new String[] {"cross-site", "same-site"}) {
      for (String path :
          new String[] {
            "/api/v1/whatif", "/api/v1/snapshot/job", "/api/v1/overview", "/api/v1/recording"
          }) {
        as("user:admin")
            .header("Sec-Fetch-Site", site)
            .contentType("application/json")
            .body("{}")
            .post(path)
            .then()
            .statusCode(403)
            .body("error", containsString("own page only"));
        as("user:admin").header("Sec-Fetch-Site", site).get(path).then().statusCode(403);
      }
    }
  }

  @Test
  void aBodyWithoutATypeIsNotRead() throws Exception {
    // What a browser sends for another site without asking first: no client library sends it.
    for (String type : new String[] {"", "Content-Type: text/plain\r\n", "Content-Type:\r\n"}) {
      for (String path : new String[] {"/api/v1/whatif", "/api/v1/snapshot/job"}) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
          socket
              .getOutputStream()
              .write(
                  ("POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer user:admin\r\n"
                          + "%sContent-Length: 2\r\nConnection: close\r\n\r\n{}")
                      .formatted(path, type)
                      .getBytes(StandardCharsets.US_ASCII));
          String answer =
              new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
          assertThat(answer).as(path + " " + type).startsWith("HTTP/1.1 415 ");
        }
      }
    }
  }

  @Test
  void aTenantSeesHisOwnJobsOnly() {
    for (String token : new String[] {"user:blue", FakeApiServer.userToken("blue", "kastor")}) {
      as(token)
          .get("/api/v1/overview")
          .then()
          .statusCode(200)
          .body("jobs.name", contains("job-of-blue"))
          .body("cluster.nodes", empty())
          .body("cluster.slotsTotal", equalTo(4));
      as(token).get("/api/v1/timeline").then().body("namespace", contains("blue"));
      as(token).get("/api/v1/queues").then().statusCode(200);
      as(token).get("/api/v1/jobs/blue/job-of-blue/history").then().statusCode(200);
      for (String foreign : new String[] {"job-of-red", "no-such-job"}) {
        for (String what : new String[] {"history", "decision", "model.onnx"}) {
          as(token)
              .get("/api/v1/jobs/red/%s/%s".formatted(foreign, what))
              .then()
              .statusCode(403)
              .body("error", equalTo("you may not get TrainingJobs of namespace red"));
        }
      }
    }
  }

  /** What becomes of a job depends on jobs that a tenant may not see. */
  @Test
  void snapshotAndRecordingAreForWhoSeesAllJobs() {
    String job = Serialization.asJson(TestJobs.job("more", 1, 2, GoodputSpec.Mode.Adaptive));
    as("user:blue")
        .get("/api/v1/snapshot")
        .then()
        .statusCode(403)
        .body("error", containsString("all namespaces"))
        .body("error", not(containsString("job-of")));
    as("user:blue")
        .contentType("application/json")
        .body(job)
        .post("/api/v1/snapshot/job")
        .then()
        .statusCode(403);
    given().get("/api/v1/snapshot").then().statusCode(401);
    as("user:blue").get("/api/v1/whatif").then().statusCode(403);
    as("user:blue")
        .contentType("application/json")
        .body("{\"policy\": \"fifo\"}")
        .post("/api/v1/whatif")
        .then()
        .statusCode(403)
        .body("error", not(containsString("job-of")));
    as("user:admin").get("/api/v1/whatif").then().body("jobs.size()", equalTo(2));
    as("user:blue")
        .get("/api/v1/recording")
        .then()
        .statusCode(403)
        .body("error", containsString("all namespaces"))
        .body("error", not(containsString("job-of")));
    given().get("/api/v1/recording").then().statusCode(401);
    as("user:admin").get("/api/v1/recording").then().statusCode(200);
    as("user:admin").get("/api/v1/snapshot").then().body("jobs.size()", equalTo(2));
  }

  /** Sums over the jobs of others would tell of them. */
  @Test
  void usageIsForWhoSeesAllJobs() {
    as("user:blue")
        .get("/api/v1/usage?by=namespace")
        .then()
        .statusCode(403)
        .body("error", containsString("all namespaces"));
    given().get("/api/v1/usage").then().statusCode(401);
    as("user:admin")
        .get("/api/v1/usage?by=namespace")
        .then()
        .statusCode(200)
        .body("by", equalTo("NAMESPACE"));
    as("user:admin").get("/api/v1/usage?by=planet").then().statusCode(400);
    as("user:admin").get("/api/v1/usage?since=yesterday").then().statusCode(400);
  }

  @Test
  void whoMayListAllSeesAll() {
    as("user:admin")
        .get("/api/v1/overview")
        .then()
        .body("jobs.size()", equalTo(2))
        .body("cluster.nodes.size()", equalTo(1));
    as("user:admin").get("/api/v1/jobs/red/job-of-red/history").then().statusCode(200);
  }

  @Test
  void theStreamIsFilteredAsWell() throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/api/v1/events"))
            .header("Authorization", "Bearer user:red")
            .build();
    try (var http = HttpClient.newHttpClient()) {
      var answer = http.send(request, HttpResponse.BodyHandlers.ofInputStream());
      assertThat(answer.statusCode()).isEqualTo(200);
      try (var lines =
          new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8))) {
        for (int events = 0; events < 2; ) {
          String line = lines.readLine();
          if (line.startsWith("data:")) {
            assertThat(line).contains("job-of-red").doesNotContain("job-of-blue");
            events++;
          }
        }
      }
    }
  }

  private static RequestSpecification as(String token) {
    return given().header("Authorization", "Bearer " + token);
  }
}
