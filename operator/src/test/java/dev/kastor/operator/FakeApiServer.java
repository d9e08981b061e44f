package dev.kastor.operator;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.crds.profile.ClusterTrainingProfile;
import dev.kastor.crds.trainingjob.TrainingJob;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.api.model.authentication.TokenReviewBuilder;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.base.CustomResourceDefinitionContext;
import io.fabric8.kubernetes.client.server.mock.KubernetesMixedDispatcher;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.fabric8.mockwebserver.MockWebServer;
import io.fabric8.mockwebserver.ServerRequest;
import io.fabric8.mockwebserver.ServerResponse;
import io.fabric8.mockwebserver.http.MockResponse;
import io.fabric8.mockwebserver.http.RecordedRequest;
import io.quarkus.test.common.QuarkusTestResourceLifecycleManager;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.NullUnmarked;

/**
 * A CRUD API server in memory with token reviews: a token is {@code
 * <audience>|<namespace>|<pod>|<uid of the pod>} and good for exactly that.
 *
 * <p>Users have tokens as well: {@code user:<name>} for the API server itself, and unsigned ones
 * for another audience. User {@code admin} may do everything, others all in the namespace of their
 * own name.
 */
// Quarkus calls start before anything else.
@NullUnmarked
public final class FakeApiServer implements QuarkusTestResourceLifecycleManager {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String TESTS_OWN = "Kastor-Test";
  private static final AtomicInteger LOST = new AtomicInteger();
  private static final AtomicInteger LATE = new AtomicInteger();
  private static final AtomicInteger REFUSED_LISTS = new AtomicInteger();
  private static volatile Predicate<RecordedRequest> lossy = _ -> false;
  private static final List<String> FAILED = new CopyOnWriteArrayList<>();
  private static final List<String> REVIEWED = new CopyOnWriteArrayList<>();
  private static volatile int failing;
  private static volatile BiFunction<Pod, Boolean, Optional<Refused>> refusing =
      (_, _) -> Optional.empty();
  private static volatile long lateMillis;
  private static volatile KubernetesClient client;
  private static volatile Path certificate;
  private Path folder;

  private KubernetesMockServer server;

  /** A client of the running server. */
  static KubernetesClient client() {
    return Objects.requireNonNull(client);
  }

  /** Answers every request but those of the test with this status from now on; 0: as it should. */
  static void fail(int status) {
    FAILED.clear();
    failing = status;
  }

  /** How often a request of the operator failed since then whose method and path are like this. */
  static long failed(String methodAndPath) {
    return FAILED.stream().filter(request -> request.matches(methodAndPath)).count();
  }

  /** How many reviews were asked for of tokens that begin like this. */
  static long reviews(String prefix) {
    return REVIEWED.stream().filter(token -> token.startsWith(prefix)).count();
  }

  /** Does what the next request of the operator like this one asks, but answers that it failed. */
  static void loseAnswer(String method, String path, String inBody) {
    lossy =
        request ->
            method.equals(request.getMethod())
                && request.getPath().matches(path)
                && new String(request.getBody().getBytes(), UTF_8).contains(inBody);
    LOST.set(1);
  }

  /** The same, but it is done only after a while, as by a server whose store stands still. */
  static void loseAnswer(String method, String path, String inBody, Duration late) {
    lateMillis = late.toMillis();
    loseAnswer(method, path, inBody);
  }

  /** An answer with which a pod is refused. */
  record Refused(int code, String message) {}

  /**
   * Refuses the operator's pods as admission does, none where the rule says nothing. The rule is
   * told whether it is a dry run, and must not ask this server.
   */
  static void refusePods(BiFunction<Pod, Boolean, Optional<Refused>> rule) {
    refusing = rule;
  }

  /** Refuses so many of the next lists of jobs that the operator asks for. */
  static void refuseLists(int lists) {
    REFUSED_LISTS.set(lists);
  }

  /** How many lists are still to be refused. */
  static int listsToRefuse() {
    return REFUSED_LISTS.get();
  }

  /** How many answers are still to be lost, or what they were for is still to be done. */
  static int answersToLose() {
    return LOST.get() + LATE.get();
  }

  /** The certificate of the agent API, which signs itself. */
  static Path certificate() {
    return Objects.requireNonNull(certificate);
  }

  /** The token that a pod of a job has. */
  static String token(String namespace, String job, String pod) {
    Pod found = client().pods().inNamespace(namespace).withName(pod).get();
    String uid = found == null ? "uid-of-none" : found.getMetadata().getUid();
    return token("kastor/%s/%s".formatted(namespace, job), namespace, pod, uid);
  }

  /** The token of a pod for an audience. */
  static String token(String audience, String namespace, String pod, String uid) {
    String claims = String.join("|", audience, namespace, pod, uid);
    return claims + "|" + signature(claims);
  }

  /** Shows that a token was changed on its way. */
  private static String signature(String claims) {
    return Integer.toHexString(claims.hashCode());
  }

  /** The token of a user for an audience other than the API server. */
  public static String userToken(String user, String audience) {
    String claims = "{\"aud\": [\"%s\"], \"sub\": \"%s\"}".formatted(audience, user);
    return "e30."
        + Base64.getUrlEncoder().withoutPadding().encodeToString(claims.getBytes(UTF_8))
        + ".c2ln";
  }

  @Override
  public Map<String, String> start() {
    Map<ServerRequest, Queue<ServerResponse>> responses = new HashMap<>();
    var dispatcher =
        new KubernetesMixedDispatcher(
            responses,
            List.of(
                CustomResourceDefinitionContext.fromCustomResourceType(TrainingJob.class),
                CustomResourceDefinitionContext.fromCustomResourceType(
                    ClusterTrainingProfile.class),
                CustomResourceDefinitionContext.fromCustomResourceType(
                    dev.kastor.crds.queue.Queue.class))) {
          private void dispatchLate(RecordedRequest request) {
            try {
              Thread.sleep(lateMillis);
              super.dispatch(request);
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            } finally {
              lateMillis = 0;
              LATE.decrementAndGet();
            }
          }

          @Override
          public MockResponse dispatch(RecordedRequest request) {
            boolean own = request.getHeader(TESTS_OWN) != null;
            if (!own && lossy.test(request) && taken(LOST)) {
              if (lateMillis > 0) {
                LATE.incrementAndGet();
                Thread.ofVirtual().start(() -> dispatchLate(request));
              } else {
                super.dispatch(request);
              }
              return new MockResponse().setResponseCode(500);
            }
            boolean listsJobs =
                !own
                    && "GET".equals(request.getMethod())
                    && request.getPath().startsWith("/apis/kastor.dev/v1alpha1/trainingjobs")
                    && !request.getPath().contains("watch=true");
            if (listsJobs && taken(REFUSED_LISTS)) {
              return new MockResponse().setResponseCode(500);
            }
            Optional<Refused> refused = own ? Optional.empty() : refused(request);
            if (refused.isPresent()) {
              return answer(refused.get());
            }
            int code = failing;
            if (code == 0 || own) {
              return super.dispatch(request);
            }
            FAILED.add(request.getMethod() + " " + request.getPath());
            return new MockResponse().setResponseCode(code).setHeader("Retry-After", "1");
          }
        };
    server =
        new KubernetesMockServer(
            new io.fabric8.mockwebserver.Context(new ObjectMapper()),
            new MockWebServer(),
            responses,
            dispatcher,
            false);
    server.init(InetAddress.getLoopbackAddress(), 0);
    server
        .expect()
        .post()
        .withPath("/apis/authentication.k8s.io/v1/tokenreviews")
        .andReply(201, request -> review(request.getBody().readUtf8()))
        .always();
    server
        .expect()
        .post()
        .withPath("/api/v1/namespaces/team/pods?fieldValidation=Strict&dryRun=All")
        .andReply(new DryRun())
        .always();
    server
        .expect()
        .post()
        .withPath("/apis/authorization.k8s.io/v1/subjectaccessreviews")
        .andReply(201, request -> accessReview(request.getBody().readUtf8()))
        .always();
    Config config = server.createClient().getConfiguration();
    config.setCustomHeaders(Map.of(TESTS_OWN, "true"));
    // Beside other tests the server may take long to answer.
    config.setRequestTimeout(60_000);
    client = new KubernetesClientBuilder().withConfig(config).build();
    try {
      folder = Files.createTempDirectory("kastor-operator-test");
      TestCertificate made = TestCertificate.make(folder);
      certificate = made.certificate();
      return Map.ofEntries(
          Map.entry("quarkus.kubernetes-client.api-server-url", server.url("/")),
          Map.entry("quarkus.kubernetes-client.namespace", "default"),
          // The same holds for the operator: what took too long is refused with 503.
          Map.entry("quarkus.kubernetes-client.request-timeout", "60s"),
          Map.entry("quarkus.kubernetes-client.connection-timeout", "60s"),
          Map.entry("kastor.tls.certificate", made.certificate().toString()),
          Map.entry("kastor.tls.key", made.key().toString()),
          Map.entry("kastor.ca-file", made.certificate().toString()),
          Map.entry("kastor.policy", "fifo"),
          Map.entry("kastor.round-interval", "1s"),
          Map.entry("kastor.round-delay", "50ms"),
          Map.entry("kastor.summary-interval", "200ms"),
          // An agent of a test that polls late on a busy machine is none that is gone: tests about
          // silence move the clock.
          Map.entry("kastor.agent.leave-grace", "10m"),
          Map.entry("kastor.agent.broken-grace", "10m"),
          Map.entry("kastor.agent.silence", "3h"),
          Map.entry("kastor.agent.bind-patience", "10m"),
          Map.entry("kastor.agent.migration-patience", "10m"),
          Map.entry("kastor.agent.checkpoint-host-path", folder.resolve("checkpoints").toString()),
          Map.entry("quarkus.http.test-port", "0"),
          Map.entry("quarkus.http.test-ssl-port", "0"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void stop() {
    client.close();
    server.destroy();
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path file : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Optional<Refused> refused(RecordedRequest request) {
    boolean makes =
        "POST".equals(request.getMethod())
            && request.getPath().matches("/api/v1/namespaces/[^/]+/pods(\\?.*)?");
    return makes
        ? refusing.apply(
            Serialization.unmarshal(new String(request.getBody().getBytes(), UTF_8), Pod.class),
            request.getPath().contains("dryRun"))
        : Optional.empty();
  }

  private static MockResponse answer(Refused refused) {
    return new MockResponse()
        .setResponseCode(refused.code())
        .setHeader("Content-Type", "application/json")
        .setBody(
            Serialization.asJson(
                new StatusBuilder()
                    .withStatus("Failure")
                    .withCode(refused.code())
                    .withMessage(refused.message())
                    .build()));
  }

  /** Whether one was left; then there is one less. */
  private static boolean taken(AtomicInteger left) {
    return left.getAndUpdate(before -> Math.max(0, before - 1)) > 0;
  }

  private static String user(String token, String audience) throws IOException {
    if (token.startsWith("user:") && audience.isEmpty()) {
      return token.substring("user:".length());
    }
    String[] parts = token.split("\\.", -1);
    if (parts.length != 3) {
      return "";
    }
    JsonNode claims = JSON.readTree(Base64.getUrlDecoder().decode(parts[1]));
    return claims.path("aud").path(0).asText().equals(audience) ? claims.path("sub").asText() : "";
  }

  private static Object accessReview(String body) {
    try {
      JsonNode spec = JSON.readTree(body).path("spec");
      String user = spec.path("user").asText();
      JsonNode asked = spec.path("resourceAttributes");
      boolean allowed =
          asked.path("resource").asText().equals("trainingjobs")
              && asked.path("group").asText().equals("kastor.dev")
              && (user.equals("admin") || asked.path("namespace").asText().equals(user));
      return new SubjectAccessReviewBuilder()
          .withNewSpec()
          .endSpec()
          .withNewStatus()
          .withAllowed(allowed)
          .endStatus()
          .build();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Object review(String body) {
    try {
      JsonNode spec = JSON.readTree(body).path("spec");
      REVIEWED.add(spec.path("token").asText());
      String audience = spec.path("audiences").path(0).asText();
      String user = user(spec.path("token").asText(), audience);
      if (!user.isEmpty()) {
        return new TokenReviewBuilder()
            .withNewSpec()
            .endSpec()
            .withNewStatus()
            .withAuthenticated(true)
            .withAudiences(audience)
            .withNewUser()
            .withUsername(user)
            .withGroups("system:authenticated")
            .endUser()
            .endStatus()
            .build();
      }
      String token = spec.path("token").asText();
      String[] parts = token.split("\\|", -1);
      boolean good =
          parts.length == 5
              && parts[0].equals(audience)
              && token.equals(token(parts[0], parts[1], parts[2], parts[3]));
      var review = new TokenReviewBuilder().withNewSpec().endSpec();
      if (!good) {
        return review.withNewStatus().withAuthenticated(false).endStatus().build();
      }
      return review
          .withNewStatus()
          .withAuthenticated(true)
          .withAudiences(audience)
          .withNewUser()
          .withUsername("system:serviceaccount:" + parts[1] + ":default")
          .addToExtra("authentication.kubernetes.io/pod-name", List.of(parts[2]))
          .addToExtra("authentication.kubernetes.io/pod-uid", List.of(parts[3]))
          .endUser()
          .endStatus()
          .build();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
