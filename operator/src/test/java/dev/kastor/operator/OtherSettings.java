package dev.kastor.operator;

import io.quarkus.test.junit.QuarkusTestProfile;
import java.util.Map;

/**
 * Settings of an operator that several tests need and the others cannot have. Each is needed by one
 * of its classes and disturbs none of the others; an application of its own for each would take
 * about as long to start as the tests take.
 */
public final class OtherSettings implements QuarkusTestProfile {
  @Override
  public Map<String, String> getConfigOverrides() {
    return Map.of(
        // FuzzIT, RouteFuzzIT: without the limits that would keep most bodies from being read.
        "kastor.agent.bad-reports-per-minute", "0",
        "kastor.agent.requests-per-second", "0",
        "kastor.agent.silence", "3h",
        // NodeFaultIT: its agents speak every second, so silence is noticed within seconds.
        "kastor.node.silence", "3s",
        "kastor.node.lease-age", "3s",
        // JobNamespacesIT; the other classes have their jobs in the second of these.
        "kastor.job-namespaces", "other," + TestBench.NAMESPACE);
  }
}
