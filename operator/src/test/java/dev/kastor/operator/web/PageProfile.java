package dev.kastor.operator.web;

import io.quarkus.test.junit.QuarkusTestProfile;
import java.util.Map;

/**
 * The page against a mock API server, without reconcilers and the scheduling loop. One application
 * for all tests in a browser; each removes its jobs and nodes.
 */
public class PageProfile implements QuarkusTestProfile {
  @Override
  public Map<String, String> getConfigOverrides() {
    return Map.of(
        "quarkus.arc.exclude-types", "dev.kastor.operator.reconcile.OperatorLifecycle",
        "kastor.test.leads", "true",
        "quarkus.http.test-port", "0",
        "quarkus.log.category.\"io.fabric8.mockwebserver\".level", "WARN",
        "quarkus.http.host", "127.0.0.1",
        "kastor.node-advice", "0.5:0.8:1-4");
  }
}
