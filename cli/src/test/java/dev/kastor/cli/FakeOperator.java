package dev.kastor.cli;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Answers as the operator's plain HTTP port does, with what a test put there; 404 elsewhere. */
public final class FakeOperator implements AutoCloseable {
  private final Map<String, String> answers = new ConcurrentHashMap<>();
  private final HttpServer http;

  public FakeOperator() throws IOException {
    http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    http.createContext(
        "/",
        exchange -> {
          String answer = answers.get(exchange.getRequestURI().getPath());
          byte[] body = (answer == null ? "{}" : answer).getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(answer == null ? 404 : 200, body.length);
          try (OutputStream out = exchange.getResponseBody()) {
            out.write(body);
          }
        });
    http.start();
  }

  public FakeOperator answer(String path, String body) {
    answers.put(path, body);
    return this;
  }

  public String url() {
    return "http://127.0.0.1:" + http.getAddress().getPort();
  }

  @Override
  public void close() {
    http.stop(0);
  }
}
