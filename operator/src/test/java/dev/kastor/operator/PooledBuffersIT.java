package dev.kastor.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.PooledByteBufAllocator;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.common.http.TestHTTPResource;
import io.quarkus.test.junit.QuarkusTest;
import java.net.URI;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;

/** What the HTTPS server does with memory. */
// As in the operator's other tests.
@NullUnmarked
@QuarkusTest
@QuarkusTestResource(FakeApiServer.class)
class PooledBuffersIT {
  @TestHTTPResource(value = "/", tls = true)
  URI base;

  @Test
  void answersAreEncryptedInBuffersThatAreUsedAgain() throws Exception {
    AgentClient api = new AgentClient(url(), FakeApiServer.certificate());
    String job = "pooled" + System.nanoTime();
    try (LoneReplica replica = new LoneReplica(FakeApiServer.client(), api, job)) {
      assertThat(replica.report().statusCode()).isEqualTo(204);
    }
    // Nothing else here takes heap buffers from the pool.
    assertThat(PooledByteBufAllocator.DEFAULT.metric().usedHeapMemory()).isPositive();
  }

  private String url() {
    String url = base.toString();
    return url.substring(0, url.length() - 1);
  }
}
