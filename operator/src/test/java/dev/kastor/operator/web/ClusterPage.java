package dev.kastor.operator.web;

import io.restassured.RestAssured;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The page as on a cluster: who asks must say who it is. */
public final class ClusterPage extends PageProfile {
  /** Of who may see everything. */
  static final String ADMIN = "Bearer user:admin";

  @Override
  public Map<String, String> getConfigOverrides() {
    Map<String, String> settings = new HashMap<>(super.getConfigOverrides());
    settings.put("kastor.web.authorize", "true");
    return settings;
  }

  /** Asks as the administrator from now on. */
  static void askAsAdmin() {
    RestAssured.filters((request, response, context) -> {
      request.header("Authorization", ADMIN);
      return context.next(request, response);
    });
  }

  /** Says no longer who asks. */
  static void askAsNobody() {
    RestAssured.replaceFiltersWith(List.of());
  }
}
