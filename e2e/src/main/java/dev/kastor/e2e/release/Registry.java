package dev.kastor.e2e.release;

import static java.net.HttpURLConnection.HTTP_BAD_METHOD;
import static java.net.HttpURLConnection.HTTP_NOT_FOUND;
import static java.net.HttpURLConnection.HTTP_OK;
import static java.net.HttpURLConnection.HTTP_UNAUTHORIZED;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Registry of images and charts that can only be read, over folders in the OCI image layout. It
 * answers who shows its user and password, and refuses all others.
 *
 * <p>Follows the OCI Distribution Specification 1.1, the part "Pull", with HTTP basic
 * authentication. Safe for use by several threads.
 */
final class Registry implements AutoCloseable {
  private static final Pattern PATH =
      Pattern.compile("/v2/([a-z0-9/._-]+)/(manifests|blobs|tags)/([A-Za-z0-9][A-Za-z0-9._:-]*)");
  private static final Pattern DIGEST = Pattern.compile("sha256:([0-9a-f]{64})");
  private static final ObjectMapper JSON = new ObjectMapper();

  private final HttpServer server;
  private final byte[] credentials;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Map<String, Repository> repositories = new ConcurrentHashMap<>();
  private final ConcurrentLinkedQueue<Request> requests = new ConcurrentLinkedQueue<>();

  /**
   * A request as it was answered.
   *
   * @param client what the client calls itself
   */
  record Request(String method, String path, int status, String client) {}

  private record Repository(List<Path> layouts, Map<String, String> tags) {}

  /**
   * An answer.
   *
   * @param file what is sent
   * @param text what is sent if there is no file
   */
  private record Answer(int status, String type, Optional<Path> file, String text) {
    static Answer json(int status, Object value) throws IOException {
      return new Answer(
          status, "application/json", Optional.empty(), JSON.writeValueAsString(value));
    }

    static Answer error(int status, String code) throws IOException {
      return json(status, Map.of("errors", List.of(Map.of("code", code, "message", code))));
    }

    long length() throws IOException {
      return file.isPresent() ? Files.size(file.get()) : text.getBytes(UTF_8).length;
    }
  }

  /**
   * Starts to answer.
   *
   * @param server bound to its address and not started; it is stopped with the registry
   */
  Registry(HttpServer server, String user, String password) {
    this.server = server;
    credentials =
        ("Basic " + Base64.getEncoder().encodeToString((user + ":" + password).getBytes(UTF_8)))
            .getBytes(UTF_8);
    server.setExecutor(threads);
    server.createContext("/", this::handle);
    server.start();
  }

  /**
   * Offers one image or chart of a layout.
   *
   * @param name of its repository, such as {@code kastor/operator}
   * @param tag under which it is found; the layout names it so, or by repository and tag
   */
  void add(String name, String tag, Path layout) throws IOException {
    JsonNode index = JSON.readTree(layout.resolve("index.json").toFile());
    String digest = "";
    for (JsonNode manifest : index.path("manifests")) {
      String called = manifest.at("/annotations/org.opencontainers.image.ref.name").asText();
      if (called.equals(tag) || called.endsWith("/" + name + ":" + tag)) {
        digest = manifest.path("digest").asText();
      }
    }
    if (digest.isEmpty()) {
      throw new IOException("%s has no %s:%s".formatted(layout, name, tag));
    }
    Repository repository =
        repositories.computeIfAbsent(
            name, each -> new Repository(new ArrayList<>(), new ConcurrentHashMap<>()));
    repository.layouts().add(layout);
    repository.tags().put(tag, digest);
  }

  /** All requests so far, the oldest first. */
  List<Request> requests() {
    return List.copyOf(requests);
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      String method = exchange.getRequestMethod();
      String path = exchange.getRequestURI().getPath();
      Answer answer = answer(method, path, exchange.getRequestHeaders().getFirst("Authorization"));
      String client = exchange.getRequestHeaders().getFirst("User-Agent");
      requests.add(new Request(method, path, answer.status(), String.valueOf(client)));
      var headers = exchange.getResponseHeaders();
      headers.add("Docker-Distribution-Api-Version", "registry/2.0");
      headers.add("Content-Type", answer.type());
      if (answer.status() == HTTP_UNAUTHORIZED) {
        headers.add("WWW-Authenticate", "Basic realm=\"registry\"");
      }
      // Where a file is the answer, its name is its digest.
      answer
          .file()
          .ifPresent(file -> headers.add("Docker-Content-Digest", "sha256:" + file.getFileName()));
      if (method.equals("HEAD")) {
        headers.add("Content-Length", String.valueOf(answer.length()));
        exchange.sendResponseHeaders(answer.status(), -1);
        return;
      }
      exchange.sendResponseHeaders(answer.status(), answer.length());
      OutputStream out = exchange.getResponseBody();
      if (answer.file().isPresent()) {
        Files.copy(answer.file().get(), out);
      } else {
        out.write(answer.text().getBytes(UTF_8));
      }
    }
  }

  private Answer answer(String method, String path, @Nullable String authorization)
      throws IOException {
    if (authorization == null
        || !MessageDigest.isEqual(credentials, authorization.getBytes(UTF_8))) {
      return Answer.error(HTTP_UNAUTHORIZED, "UNAUTHORIZED");
    }
    if (!method.equals("GET") && !method.equals("HEAD")) {
      return Answer.error(HTTP_BAD_METHOD, "UNSUPPORTED");
    }
    if (path.equals("/v2/")) {
      return Answer.json(HTTP_OK, Map.of());
    }
    Matcher parts = PATH.matcher(path);
    Repository repository = parts.matches() ? repositories.get(parts.group(1)) : null;
    if (repository == null) {
      return Answer.error(HTTP_NOT_FOUND, "NAME_UNKNOWN");
    }
    String reference = parts.group(3);
    return switch (parts.group(2)) {
      case "tags" ->
          Answer.json(
              HTTP_OK,
              Map.of(
                  "name",
                  parts.group(1),
                  "tags",
                  repository.tags().keySet().stream().sorted().toList()));
      case "manifests" -> {
        Optional<Path> file =
            blob(repository, repository.tags().getOrDefault(reference, reference));
        yield file.isEmpty()
            ? Answer.error(HTTP_NOT_FOUND, "MANIFEST_UNKNOWN")
            : new Answer(
                HTTP_OK, JSON.readTree(file.get().toFile()).path("mediaType").asText(), file, "");
      }
      default -> {
        Optional<Path> file = blob(repository, reference);
        yield file.isEmpty()
            ? Answer.error(HTTP_NOT_FOUND, "BLOB_UNKNOWN")
            : new Answer(HTTP_OK, "application/octet-stream", file, "");
      }
    };
  }

  private static Optional<Path> blob(Repository repository, String digest) {
    Matcher hex = DIGEST.matcher(digest);
    return hex.matches()
        ? repository.layouts().stream()
            .map(layout -> layout.resolve("blobs/sha256").resolve(hex.group(1)))
            .filter(Files::isRegularFile)
            .findFirst()
        : Optional.empty();
  }
}
