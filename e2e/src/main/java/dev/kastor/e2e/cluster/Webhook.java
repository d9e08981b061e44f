package dev.kastor.e2e.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/**
 * Admission webhook of another system, which the API server asks about each new pod of one
 * namespace: one that refuses all, or one that puts a container into each, as service meshes do.
 */
public final class Webhook implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final char[] PASSWORD = "no secret of a test".toCharArray();

  private final KubernetesClient client;
  private final String name;
  private final HttpsServer server;
  private final Path store;
  private final ObjectNode answer;
  private final AtomicInteger asked = new AtomicInteger();

  private Webhook(KubernetesClient client, String namespace, String kind, ObjectNode answer)
      throws IOException, GeneralSecurityException, InterruptedException {
    this.client = client;
    this.answer = answer;
    name = "other-" + kind.toLowerCase(Locale.ROOT) + "-" + namespace;
    Path folder = Files.createTempDirectory("kastor-webhook");
    store = folder.resolve("key.p12");
    Shell.run(
            Map.of(),
            "",
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "webhook",
                "-keyalg",
                "EC",
                "-validity",
                "2",
                "-dname",
                "CN=webhook",
                "-ext",
                "san=ip:127.0.0.1",
                "-storetype",
                "PKCS12",
                "-keystore",
                store.toString(),
                "-storepass",
                new String(PASSWORD)))
        .good();
    KeyStore keys = KeyStore.getInstance(store.toFile(), PASSWORD);
    KeyManagerFactory managers =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    managers.init(keys, PASSWORD);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(managers.getKeyManagers(), null, null);
    server = HttpsServer.create(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(context));
    server.createContext("/", this::review);
    server.start();
    client
        .resource(
            """
            apiVersion: admissionregistration.k8s.io/v1
            kind: %sWebhookConfiguration
            metadata: {name: %s}
            webhooks:
              - name: pods.example.com
                admissionReviewVersions: [v1]
                sideEffects: None
                timeoutSeconds: 10
                failurePolicy: Fail
                clientConfig: {url: "https://127.0.0.1:%d/", caBundle: %s}
                namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %s}}
                rules:
                  - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}
            """
                .formatted(
                    kind,
                    name,
                    server.getAddress().getPort(),
                    Base64.getEncoder().encodeToString(pem(keys)),
                    namespace))
        .create();
  }

  /** One that refuses all pods of a namespace, with these words. */
  public static Webhook refusing(KubernetesClient client, String namespace, String words)
      throws IOException, GeneralSecurityException, InterruptedException {
    ObjectNode answer = JSON.createObjectNode().put("allowed", false);
    answer.putObject("status").put("code", 403).put("message", words);
    return new Webhook(client, namespace, "Validating", answer);
  }

  /** One that puts a container before those of each pod of a namespace. */
  public static Webhook injecting(KubernetesClient client, String namespace, String container)
      throws IOException, GeneralSecurityException, InterruptedException {
    String patch =
        "[{\"op\": \"add\", \"path\": \"/spec/containers/0\", \"value\": %s}]".formatted(container);
    ObjectNode answer =
        JSON.createObjectNode()
            .put("allowed", true)
            .put("patchType", "JSONPatch")
            .put("patch", Base64.getEncoder().encodeToString(patch.getBytes(UTF_8)));
    return new Webhook(client, namespace, "Mutating", answer);
  }

  /** Number of requests to it so far. */
  public int asked() {
    return asked.get();
  }

  private void review(HttpExchange exchange) throws IOException {
    try (exchange) {
      asked.incrementAndGet();
      JsonNode review = JSON.readTree(exchange.getRequestBody());
      ObjectNode response = answer.deepCopy();
      response.set("uid", review.path("request").path("uid"));
      ObjectNode body =
          JSON.createObjectNode()
              .put("apiVersion", "admission.k8s.io/v1")
              .put("kind", "AdmissionReview");
      body.set("response", response);
      byte[] bytes = JSON.writeValueAsBytes(body);
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(200, bytes.length);
      exchange.getResponseBody().write(bytes);
    }
  }

  private static byte[] pem(KeyStore keys) throws GeneralSecurityException {
    String body =
        Base64.getMimeEncoder(64, new byte[] {'\n'})
            .encodeToString(keys.getCertificate("webhook").getEncoded());
    return "-----BEGIN CERTIFICATE-----\n%s\n-----END CERTIFICATE-----\n"
        .formatted(body)
        .getBytes(UTF_8);
  }

  @Override
  public void close() throws IOException {
    client.admissionRegistration().v1().mutatingWebhookConfigurations().withName(name).delete();
    client.admissionRegistration().v1().validatingWebhookConfigurations().withName(name).delete();
    server.stop(0);
    Files.deleteIfExists(store);
    Files.deleteIfExists(store.getParent());
  }
}
