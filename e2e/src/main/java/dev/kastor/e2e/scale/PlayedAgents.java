package dev.kastor.e2e.scale;

import dev.kastor.e2e.watch.Pods;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.net.HttpURLConnection;
import java.net.URI;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToLongFunction;

/**
 * One agent in every pod that runs: it polls and reports over HTTPS with a token of its pod, as the
 * real one does, and does not train.
 *
 * <p>Thread-safe; an agent is a virtual thread.
 */
final class PlayedAgents implements AutoCloseable, PlayedAgent.Tally {
  private static final String JOB = "kastor.dev/job";
  private static final long HOUR_SECONDS = 3600;
  private static final long TOKEN_MILLIS = 1000;
  private static final int TOO_MANY_REQUESTS = 429;
  private static final int STARTS_AT_ONCE = 16;

  private final KubernetesClient client;
  private final ToLongFunction<String> steps;
  private final Map<String, PlayedAgent.Work> begun = new ConcurrentHashMap<>();
  private final AgentLine line;
  private final PlayedAgent.Manner manner;
  private final SharedIndexInformer<Pod> pods;
  private final Map<String, Thread> threads = new ConcurrentHashMap<>();
  private final Semaphore starting = new Semaphore(STARTS_AT_ONCE);
  private final AtomicLong reports = new AtomicLong();
  private final Queue<Double> latencies = new ConcurrentLinkedQueue<>();
  private final Map<String, Integer> failures = new ConcurrentHashMap<>();

  /**
   * Agents whose jobs take so many steps, 50 of them a second.
   *
   * @param steps by the name of the job
   */
  PlayedAgents(KubernetesClient client, ToLongFunction<String> steps) {
    this(client, steps, PlayedAgent.Manner.HONEST);
  }

  /** The same of other habits. */
  PlayedAgents(KubernetesClient client, ToLongFunction<String> steps, PlayedAgent.Manner manner) {
    this.client = client;
    this.manner = manner;
    this.steps = steps;
    line = new AgentLine(URI.create(OperatorProcess.URL), OperatorProcess.authority());
    pods =
        Pods.alive(client.pods().inAnyNamespace().withLabel(JOB))
            .inform(
                new ResourceEventHandler<>() {
                  @Override
                  public void onAdd(Pod pod) {
                    look(pod);
                  }

                  @Override
                  public void onUpdate(Pod before, Pod after) {
                    look(after);
                  }

                  @Override
                  public void onDelete(Pod pod, boolean unknown) {
                    end(pod);
                  }
                });
  }

  /** Reports that were taken in. */
  long reports() {
    return reports.get();
  }

  /** Seconds of each report since they were forgotten, ascending. */
  double[] latencies() {
    return latencies.stream().mapToDouble(Double::doubleValue).sorted().toArray();
  }

  void forgetLatencies() {
    latencies.clear();
    failures.clear();
  }

  /** How often what went wrong. */
  Map<String, Integer> failures() {
    return new TreeMap<>(failures);
  }

  @Override
  public void reported(double seconds) {
    reports.incrementAndGet();
    latencies.add(seconds);
  }

  @Override
  public void failed(String why) {
    failures.merge(why, 1, Integer::sum);
  }

  /** A token that is bound to the pod and good for its job alone. */
  String token(Pod pod) throws InterruptedException {
    String namespace = pod.getMetadata().getNamespace();
    starting.acquire();
    try {
      return client
          .serviceAccounts()
          .inNamespace(namespace)
          .withName("default")
          .tokenRequest(
              new TokenRequestBuilder()
                  .withNewSpec()
                  .withAudiences(
                      "kastor/" + namespace + "/" + pod.getMetadata().getLabels().get(JOB))
                  .withExpirationSeconds(HOUR_SECONDS)
                  .withNewBoundObjectRef()
                  .withApiVersion("v1")
                  .withKind("Pod")
                  .withName(pod.getMetadata().getName())
                  .withUid(pod.getMetadata().getUid())
                  .endBoundObjectRef()
                  .endSpec()
                  .build())
          .getStatus()
          .getToken();
    } finally {
      starting.release();
    }
  }

  @Override
  public void close() {
    pods.stop();
    threads.values().forEach(Thread::interrupt);
    line.close();
  }

  private void look(Pod pod) {
    boolean runs =
        "Running".equals(pod.getStatus().getPhase())
            && pod.getMetadata().getDeletionTimestamp() == null;
    if (runs) {
      threads.computeIfAbsent(
          pod.getMetadata().getUid(),
          uid -> Thread.ofVirtual().name(pod.getMetadata().getName()).start(() -> play(pod)));
    } else {
      end(pod);
    }
  }

  private PlayedAgent.Work work(Pod pod) {
    String job = pod.getMetadata().getLabels().get(JOB);
    return begun.computeIfAbsent(
        pod.getMetadata().getNamespace() + "/" + job,
        key -> new PlayedAgent.Work(steps.applyAsLong(job)));
  }

  /** While the API server is away, a kubelet asks again too, and the container starts later. */
  private String patientToken(Pod pod) throws InterruptedException {
    while (true) {
      try {
        return token(pod);
      } catch (KubernetesClientException e) {
        boolean refused =
            e.getCode() >= HttpURLConnection.HTTP_BAD_REQUEST
                && e.getCode() < HttpURLConnection.HTTP_INTERNAL_ERROR
                && e.getCode() != TOO_MANY_REQUESTS;
        if (refused) {
          throw e;
        }
        Thread.sleep(TOKEN_MILLIS);
      }
    }
  }

  private void play(Pod pod) {
    try {
      ended(pod, new PlayedAgent(pod, patientToken(pod), work(pod), line, manner, this).run());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (KubernetesClientException e) {
      failed("token: " + e.getCode());
    }
  }

  /** The container ends well, as the kubelet would tell it. */
  private void ended(Pod pod, String lastWords) {
    // Of a pod that is at hand: by its name alone the client would ask for it first, and at scale
    // the API server is what limits a run.
    client
        .pods()
        .inNamespace(pod.getMetadata().getNamespace())
        .resource(pod)
        .subresource("status")
        .patch(PatchContext.of(PatchType.JSON_MERGE), Serialization.asJson(succeeded(lastWords)));
  }

  /** What changes of a pod whose container has ended well. */
  private static Pod succeeded(String lastWords) {
    return new PodBuilder()
        .withNewStatus()
        .withPhase("Succeeded")
        .withContainerStatuses(
            new ContainerStatusBuilder()
                .withName("agent")
                .withNewState()
                .withNewTerminated()
                .withExitCode(0)
                .withReason("Completed")
                .withMessage(lastWords)
                .withFinishedAt(Instant.now().truncatedTo(ChronoUnit.SECONDS).toString())
                .endTerminated()
                .endState()
                .withImage("played")
                .withImageID("played")
                .withReady(false)
                .withRestartCount(0)
                .build())
        .endStatus()
        .build();
  }

  private void end(Pod pod) {
    Thread thread = threads.remove(pod.getMetadata().getUid());
    if (thread != null) {
      thread.interrupt();
    }
  }
}
