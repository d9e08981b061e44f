package dev.kastor.e2e.release;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.HexFormat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RegistryTest {
  private static final String TYPE = "application/vnd.oci.image.manifest.v1+json";
  private static final String MANIFEST = "{\"mediaType\":\"" + TYPE + "\",\"layers\":[]}";

  @TempDir Path layout;

  private final HttpClient http = HttpClient.newHttpClient();
  private final HttpServer server;
  private final Registry registry;
  private String digest = "";
  private String layer = "";

  RegistryTest() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    registry = new Registry(server, "user", "password");
  }

  @BeforeEach
  void offerAnImage() throws Exception {
    digest = blob(MANIFEST);
    layer = blob("a layer");
    Files.writeString(
        layout.resolve("index.json"),
        """
        {"manifests": [{"digest": "%s", "annotations":
          {"org.opencontainers.image.ref.name": "docker.io/kastor/operator:1.2.3"}}]}
        """
            .formatted(digest));
    registry.add("kastor/operator", "1.2.3", layout);
  }

  @AfterEach
  void close() {
    registry.close();
    http.close();
  }

  @Tag("slow")
  @Test
  void refusesWithoutThePassword() throws Exception {
    for (String credentials : new String[] {"", "user:other", "other:password", "user:"}) {
      HttpResponse<String> answer = ask("GET", "/v2/kastor/operator/manifests/1.2.3", credentials);
      assertThat(answer.statusCode()).as(credentials).isEqualTo(401);
      assertThat(answer.headers().firstValue("WWW-Authenticate"))
          .hasValue("Basic realm=\"registry\"");
      assertThat(answer.body()).contains("UNAUTHORIZED").doesNotContain("layers");
    }
    assertThat(ask("GET", "/v2/", "user:password").statusCode()).isEqualTo(200);
  }

  @Test
  void givesManifestsByTagAndByDigest() throws Exception {
    for (String reference : new String[] {"1.2.3", digest}) {
      HttpResponse<String> answer = get("/v2/kastor/operator/manifests/" + reference);
      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.body()).isEqualTo(MANIFEST);
      assertThat(answer.headers().firstValue("Content-Type")).hasValue(TYPE);
      assertThat(answer.headers().firstValue("Docker-Content-Digest")).hasValue(digest);
    }
    assertThat(get("/v2/kastor/operator/tags/list").body()).contains("\"1.2.3\"");
  }

  @Test
  void givesBlobsAndTheirLengthBeforehand() throws Exception {
    String path = "/v2/kastor/operator/blobs/" + layer;
    HttpResponse<String> head = ask("HEAD", path, "user:password");
    assertThat(head.headers().firstValueAsLong("Content-Length")).hasValue("a layer".length());
    assertThat(head.body()).isEmpty();
    assertThat(get(path).body()).isEqualTo("a layer");
  }

  @Test
  void saysWhatItDoesNotHave() throws Exception {
    assertThat(get("/v2/kastor/operator/manifests/1.2.4").body()).contains("MANIFEST_UNKNOWN");
    assertThat(get("/v2/kastor/other/manifests/1.2.3").body()).contains("NAME_UNKNOWN");
    String none = "sha256:" + "0".repeat(64);
    assertThat(get("/v2/kastor/operator/blobs/" + none).body()).contains("BLOB_UNKNOWN");
    assertThat(get("/v2/kastor/operator/blobs/..%2f..%2findex.json").statusCode()).isEqualTo(404);
    assertThat(ask("PUT", "/v2/kastor/operator/manifests/1.2.3", "user:password").statusCode())
        .isEqualTo(405);
    assertThatThrownBy(() -> registry.add("kastor/operator", "1.2.4", layout))
        .hasMessageContaining("has no kastor/operator:1.2.4");
  }

  @Test
  void remembersRequests() throws Exception {
    ask("GET", "/v2/", "");
    get("/v2/");
    assertThat(registry.requests()).extracting(Registry.Request::status).containsExactly(401, 200);
  }

  private HttpResponse<String> get(String path) throws IOException, InterruptedException {
    return ask("GET", path, "user:password");
  }

  private HttpResponse<String> ask(String method, String path, String credentials)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(
                URI.create("http://127.0.0.1:%d%s".formatted(server.getAddress().getPort(), path)))
            .method(method, HttpRequest.BodyPublishers.noBody());
    if (!credentials.isEmpty()) {
      request.header(
          "Authorization",
          "Basic " + Base64.getEncoder().encodeToString(credentials.getBytes(UTF_8)));
    }
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private String blob(String content) throws Exception {
    Path blobs = Files.createDirectories(layout.resolve("blobs/sha256"));
    String hex =
        HexFormat.of()
            .formatHex(MessageDigest.getInstance("SHA-256").digest(content.getBytes(UTF_8)));
    Files.writeString(blobs.resolve(hex), content);
    return "sha256:" + hex;
  }
}
