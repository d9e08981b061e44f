package dev.kastor.operator.http;

import io.vertx.ext.web.RoutingContext;

/** Answer to a request that is not read any further; its connection ends with it. */
final class Refusal {
  private Refusal() {}

  /**
   * Answers and ends the connection.
   *
   * @param rule what was not kept, without a quotation mark or anything that the request said
   */
  static void end(RoutingContext context, int status, String rule) {
    OpenConnection connection = OpenConnection.of(context.request());
    if (connection != null) {
      connection.refuse();
    }
    context
        .response()
        .setStatusCode(status)
        .putHeader("Connection", "close")
        .putHeader("Content-Type", "application/json")
        .end("{\"error\":\"" + rule + "\"}")
        .onComplete(sent -> context.request().connection().close());
  }
}
