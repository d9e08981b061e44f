package dev.kastor.operator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.operator.signal.Signals;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.common.http.TestHTTPResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.net.URI;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;

/** First report of a job with slots that it was just given: it brings a round, as in replays. */
// As in the operator's tests: a null would fail the test as it should.
@NullUnmarked
@QuarkusTest
@QuarkusTestResource(FakeApiServer.class)
class FirstReportIT {
  @Inject Signals signals;

  @TestHTTPResource(value = "/", tls = true)
  URI base;

  @Test
  void bringsARoundAndTheNextReportsDoNot() throws Exception {
    AtomicInteger rounds = new AtomicInteger();
    signals.onRound(rounds::incrementAndGet);
    String url = base.toString();
    AgentClient api =
        new AgentClient(url.substring(0, url.length() - 1), FakeApiServer.certificate());
    String job = "first-report" + System.nanoTime();
    try (LoneReplica replica = new LoneReplica(FakeApiServer.client(), api, job)) {
      int before = rounds.get();
      assertThat(replica.report().statusCode()).isEqualTo(204);
      assertThat(rounds.get()).isEqualTo(before + 1);
      assertThat(replica.report().statusCode()).isEqualTo(204);
      assertThat(rounds.get()).isEqualTo(before + 1);
    }
  }
}
