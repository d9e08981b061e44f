package dev.kastor.operator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.operator.scheduling.Decisions;
import dev.kastor.scheduler.model.JobId;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.common.http.TestHTTPResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Jobs that come to a cluster with room for them, and to one without. */
// As in the operator's tests: a null would fail the test as it should.
@NullUnmarked
@QuarkusTest
@QuarkusTestResource(FakeApiServer.class)
class ArrivalIT {
  private static final int SLOTS = 12;
  private static final String ONE_SLOT = replicas(1);
  private static final String ALL_SLOTS = replicas(SLOTS);

  @Inject Decisions decisions;

  @TestHTTPResource("/")
  URI plain;

  private final List<TestBench> benches = new ArrayList<>();

  @AfterEach
  void clear() {
    benches.forEach(TestBench::clear);
  }

  @Test
  void whoFindsRoomIsServedAtOnceAndOthersByARoundOverAll() {
    TestBench first = submit(ONE_SLOT);
    first.node("n1", SLOTS);
    TestBench.await("the first has its slot", () -> first.allocated() == 1);
    double before = servedAtOnce();
    // A round over all that begins just then takes a newcomer along, so several come.
    while (servedAtOnce() == before && benches.size() < SLOTS) {
      TestBench next = submit(ONE_SLOT);
      TestBench.await("there is room for the next", () -> next.allocated() == 1);
      assertThat(next.status().orElseThrow().allocation().reason()).isEqualTo("Started");
    }
    double served = servedAtOnce();
    assertThat(served).isEqualTo(before + 1);
    TestBench large = submit(ALL_SLOTS);
    TestBench.await(
        "the one without room is told why it waits",
        () ->
            decisions
                .of(new JobId(TestBench.NAMESPACE, large.name))
                .filter(decision -> decision.reason().code().equals("Waiting"))
                .isPresent());
    assertThat(large.allocated()).isZero();
    assertThat(servedAtOnce()).isEqualTo(served);
  }

  private TestBench submit(String replicas) {
    TestBench bench = new TestBench();
    benches.add(bench);
    bench.program(replicas);
    return bench;
  }

  private static String replicas(int count) {
    return "\"elastic\": {\"minReplicas\": %1$d, \"maxReplicas\": %1$d}".formatted(count);
  }

  private double servedAtOnce() {
    return PlainHttp.metric(plain, "kastor_jobs_served_at_once_total");
  }
}
