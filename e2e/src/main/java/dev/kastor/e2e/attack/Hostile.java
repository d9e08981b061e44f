package dev.kastor.e2e.attack;

import static java.util.Objects.requireNonNull;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.e2e.cluster.Credentials;
import dev.kastor.e2e.cluster.Jobs;
import dev.kastor.e2e.suite.Await;
import dev.kastor.e2e.watch.WatcherProcess;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Tenant who wants what is not his, with all rights that tenants have: he makes, changes and
 * removes what he likes in his namespace, and sends what he likes to what he reaches.
 */
final class Hostile implements AutoCloseable {
  private static final Duration GONE = Duration.ofSeconds(40);
  private static final Duration HELD = Duration.ofSeconds(15);

  private final KubernetesClient admin;
  private final KubernetesClient client = impersonated();
  private final WatcherProcess watcher;
  private final Honest victim;
  private final OperatorSeen operator;
  private final Stranger stranger;
  private final Jobs jobs;
  private final List<Promise> promises = new ArrayList<>();
  private final Deque<AutoCloseable> open = new ArrayDeque<>();

  Hostile(
      KubernetesClient admin,
      WatcherProcess watcher,
      Honest victim,
      OperatorSeen operator,
      Stranger stranger) {
    this.admin = admin;
    this.watcher = watcher;
    this.victim = victim;
    this.operator = operator;
    this.stranger = stranger;
    jobs = new Jobs(admin, Lab.HOSTILE);
  }

  private static KubernetesClient impersonated() {
    return new KubernetesClientBuilder()
        .withConfig(
            new ConfigBuilder()
                .withImpersonateUsername(
                    "system:serviceaccount:%s:%s".formatted(Lab.HOSTILE, Lab.ACCOUNT))
                .withImpersonateGroups(
                    "system:serviceaccounts",
                    "system:serviceaccounts:" + Lab.HOSTILE,
                    "system:authenticated")
                // What is refused is not asked again.
                .withRequestRetryBackoffLimit(0)
                .build())
        .build();
  }

  /** The API server with his rights. */
  KubernetesClient client() {
    return client;
  }

  Honest victim() {
    return victim;
  }

  OperatorSeen operator() {
    return operator;
  }

  Stranger stranger() {
    return stranger;
  }

  /** His jobs. */
  Jobs jobs() {
    return jobs;
  }

  /** The nodes of the cluster, whose names everybody learns sooner or later. */
  List<String> nodes() {
    return admin.nodes().list().getItems().stream()
        .map(node -> node.getMetadata().getName())
        .sorted()
        .toList();
  }

  /** Makes an object; empty if the API server refuses it, which is an answer as good as another. */
  <T extends HasMetadata> Optional<T> make(T object) {
    return tries(() -> client.resource(object).inNamespace(Lab.HOSTILE).create());
  }

  /** Tries a request; empty if the API server refuses it. */
  static <T> Optional<T> tries(Supplier<T> request) {
    try {
      return Optional.of(request.get());
    } catch (KubernetesClientException e) {
      if (e.getCode() < HttpURLConnection.HTTP_BAD_REQUEST
          || e.getCode() >= HttpURLConnection.HTTP_INTERNAL_ERROR) {
        throw e;
      }
      return Optional.empty();
    }
  }

  /** Deletes a job of his. */
  void end(String job) {
    watcher.deleting(Lab.HOSTILE, job);
    client.resources(TrainingJob.class).inNamespace(Lab.HOSTILE).withName(job).delete();
  }

  /** Waits a while for a job of his to hold GPUs, if it ever does. */
  void untilHeld(String job, int replicas) throws InterruptedException {
    long begun = System.nanoTime();
    while (jobs.running(job).size() < replicas && System.nanoTime() - begun < HELD.toNanos()) {
      Thread.sleep(250);
    }
  }

  /** Promises something that must be so a round later. */
  void promise(Promise promise) {
    promises.add(promise);
  }

  /**
   * Promises that an object of his, which is none of the operator's business, stays if it is made.
   */
  void keeps(HasMetadata object) {
    make(object).ifPresent(this::stays);
  }

  private void stays(HasMetadata made) {
    String uid = made.getMetadata().getUid();
    promise(
        Promise.inARound(
            "%s %s of a tenant stays".formatted(made.getKind(), made.getMetadata().getName()),
            () -> {
              HasMetadata now = admin.resource(made).get();
              return now != null
                  && now.getMetadata().getUid().equals(uid)
                  && now.getMetadata().getDeletionTimestamp() == null;
            }));
  }

  /** Tries what the API server must refuse. */
  void refused(String what, Runnable request) {
    int code = HttpURLConnection.HTTP_OK;
    try {
      request.run();
    } catch (KubernetesClientException e) {
      code = e.getCode();
    }
    int answer = code;
    promise(
        Promise.now(
            "%s is forbidden, not %d".formatted(what, answer),
            () -> answer == HttpURLConnection.HTTP_FORBIDDEN));
  }

  /** Begins something that ends with the strategy. */
  <T extends AutoCloseable> T open(T deed) {
    open.push(deed);
    return deed;
  }

  /** A token of his account for the operator; without audiences for the API server. */
  String token(String... audiences) {
    return new Credentials(client).ofAccount(Lab.HOSTILE, Lab.ACCOUNT, audiences);
  }

  /** The token that a pod of his has for its job. */
  String token(Pod pod) {
    String job = requireNonNull(pod.getMetadata().getLabels().get("kastor.dev/job"));
    return new Credentials(client).ofPod(pod, "kastor/%s/%s".formatted(Lab.HOSTILE, job));
  }

  /** Whether something was promised for the next round. */
  boolean waitsForARound() {
    return promises.stream().anyMatch(Promise::rounds);
  }

  /** What was promised and is not so. */
  List<String> broken() throws Exception {
    List<String> broken = new ArrayList<>();
    for (Promise promise : promises) {
      if (!promise.kept().call()) {
        broken.add(promise.what());
      }
    }
    stranger.leaks().forEach(request -> broken.add("told of another tenant: " + request));
    return broken;
  }

  /** Ends all that he began and removes all that he made. */
  void undo() throws Exception {
    promises.clear();
    stranger.forget();
    while (!open.isEmpty()) {
      open.pop().close();
    }
    for (TrainingJob job :
        admin.resources(TrainingJob.class).inNamespace(Lab.HOSTILE).list().getItems()) {
      watcher.deleting(Lab.HOSTILE, job.getMetadata().getName());
    }
    admin.resources(TrainingJob.class).inNamespace(Lab.HOSTILE).delete();
    admin.pods().inNamespace(Lab.HOSTILE).withGracePeriod(1).delete();
    admin.services().inNamespace(Lab.HOSTILE).delete();
    admin.secrets().inNamespace(Lab.HOSTILE).delete();
    Await.until(
        "nothing of the hostile tenant is left",
        GONE,
        jobs::describe,
        () -> admin.pods().inNamespace(Lab.HOSTILE).list().getItems().isEmpty());
  }

  @Override
  public void close() {
    client.close();
  }
}
