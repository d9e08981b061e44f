package dev.kastor.operator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.operator.cluster.Decisions;
import dev.kastor.scheduler.JobId;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.common.http.TestHTTPResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.io.IOException;
import java.io.UncheckedIOException;
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
  private static final String ONE_SLOT = "\"elastic\": {\"minReplicas\": 1, \"maxReplicas\": 1}";

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
    TestBench first = submit();
    first.node("n1", 2);
    TestBench.await("the first has its slot", () -> first.allocated() == 1);
    double before = servedAtOnce();
    TestBench second = submit();
    TestBench.await("the second has its slot", () -> second.allocated() == 1);
    assertThat(servedAtOnce()).isEqualTo(before + 1);
    assertThat(second.status().orElseThrow().allocation().reason()).isEqualTo("Started");
    TestBench third = submit();
    TestBench.await(
        "the third is told why it waits",
        () ->
            decisions
                .of(new JobId(TestBench.NAMESPACE, third.name))
                .filter(decision -> decision.reason().code().equals("Waiting"))
                .isPresent());
    assertThat(third.allocated()).isZero();
    assertThat(servedAtOnce()).isEqualTo(before + 1);
  }

  private TestBench submit() {
    TestBench bench = new TestBench();
    benches.add(bench);
    bench.program(ONE_SLOT);
    return bench;
  }

  private double servedAtOnce() {
    try {
      return PlainHttp.text(plain, "/metrics")
          .lines()
          .filter(line -> line.startsWith("kastor_jobs_served_at_once_total "))
          .mapToDouble(line -> Double.parseDouble(line.split(" ", -1)[1]))
          .sum();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }
}
