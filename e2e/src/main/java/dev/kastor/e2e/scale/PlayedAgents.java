package dev.kastor.e2e.scale;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One agent in every pod that runs: it polls and reports over HTTPS with a token of its pod, as the
 * real one does, and does not train.
 *
 * <p>Thread-safe; an agent is a virtual thread.
 */
final class PlayedAgents implements AutoCloseable {
  private static final String JOB = "kastor.dev/job";
  private static final long HOUR_SECONDS = 3600;
  private static final int STARTS_AT_ONCE = 16;

  private final KubernetesClient client;
  private final AgentLine line;
  private final SharedIndexInformer<Pod> pods;
  private final Map<String, Thread> threads = new ConcurrentHashMap<>();
  private final Semaphore starting = new Semaphore(STARTS_AT_ONCE);
  private final AtomicLong reports = new AtomicLong();
  private final Queue<Double> latencies = new ConcurrentLinkedQueue<>();
  private final Map<String, Integer> failures = new ConcurrentHashMap<>();

  PlayedAgents(KubernetesClient client) throws Exception {
    this.client = client;
    line = new AgentLine(OperatorProcess.URL, OperatorProcess.authority());
    pods =
        client
            .pods()
            .inAnyNamespace()
            .withLabel(JOB)
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

  /** A report was answered. */
  void reported(double seconds) {
    reports.incrementAndGet();
    latencies.add(seconds);
  }

  /** A request was refused or not answered. */
  void failed(String why) {
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

  private void play(Pod pod) {
    try {
      new PlayedAgent(pod, token(pod), line, this).run();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (KubernetesClientException e) {
      failed("token: " + e.getCode());
    }
  }

  private void end(Pod pod) {
    Thread thread = threads.remove(pod.getMetadata().getUid());
    if (thread != null) {
      thread.interrupt();
    }
  }
}
