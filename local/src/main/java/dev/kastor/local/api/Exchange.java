package dev.kastor.local.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** One request with its answer. */
final class Exchange {
  private static final int MAX_BODY = 4 * 1024 * 1024;
  private static final String BEARER = "Bearer ";

  private final HttpExchange http;
  private final Query query;

  Exchange(HttpExchange http) {
    this.http = http;
    this.query = Query.of(http.getRequestURI());
  }

  String method() {
    return http.getRequestMethod();
  }

  String path() {
    return http.getRequestURI().getPath();
  }

  Query query() {
    return query;
  }

  @Nullable String bearer() {
    String header = http.getRequestHeaders().getFirst("Authorization");
    return header != null && header.startsWith(BEARER) ? header.substring(BEARER.length()) : null;
  }

  /** Whether the client wants objects as the rows of a table. */
  boolean wantsTable() {
    String accept = http.getRequestHeaders().getFirst("Accept");
    return accept != null && Table.wanted(accept);
  }

  boolean wantsWebSocket() {
    return "websocket".equalsIgnoreCase(http.getRequestHeaders().getFirst("Upgrade"));
  }

  String contentType() {
    String type = http.getRequestHeaders().getFirst("Content-Type");
    return type == null ? "application/json" : type;
  }

  byte[] bytes() throws IOException {
    byte[] bytes = http.getRequestBody().readNBytes(MAX_BODY + 1);
    if (bytes.length > MAX_BODY) {
      throw ApiException.of(413, "RequestEntityTooLarge", "the body is larger than 4 MiB");
    }
    return bytes;
  }

  /** The body as an object; JSON or YAML. */
  ObjectNode object() throws IOException {
    if (contentType().startsWith("application/vnd.kubernetes.protobuf")) {
      throw ApiException.of(415, "UnsupportedMediaType", "only JSON and YAML are understood");
    }
    byte[] bytes = bytes();
    JsonNode node = bytes.length == 0 ? Json.object() : Patch.parse(bytes);
    if (node instanceof ObjectNode object) {
      return object;
    }
    throw ApiException.badRequest("the body must be an object");
  }

  void answer(int code, JsonNode body) throws IOException {
    answer(code, "application/json", Json.text(body).getBytes(StandardCharsets.UTF_8));
  }

  void answer(int code, String contentType, byte[] body) throws IOException {
    http.getResponseHeaders().set("Content-Type", contentType);
    http.sendResponseHeaders(code, body.length == 0 ? -1 : body.length);
    http.getResponseBody().write(body);
    http.close();
  }

  /** Starts an answer of unknown length. */
  OutputStream stream(String contentType) throws IOException {
    http.getResponseHeaders().set("Content-Type", contentType);
    http.sendResponseHeaders(200, 0);
    OutputStream out = http.getResponseBody();
    out.flush();
    return out;
  }
}
