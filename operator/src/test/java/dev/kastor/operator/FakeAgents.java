package dev.kastor.operator;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.operator.kube.PodName;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.Outcome;
import dev.kastor.protocol.Progress;
import dev.kastor.protocol.Staleness;
import dev.kastor.protocol.StepProfile;
import dev.kastor.protocol.TelemetryReport;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import jakarta.enterprise.inject.spi.CDI;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.http.HttpResponse;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.jspecify.annotations.NullUnmarked;

/**
 * A kubelet that runs every pod of ours as a thread which behaves like an agent: it polls, switches
 * to new generations, reports as rank 0, stops and leaves as told.
 */
// As in the operator's tests: a null would fail the test as it should.
@NullUnmarked
final class FakeAgents implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final List<String> ENDED = Arrays.asList("Succeeded", "Failed");

  private final KubernetesClient client;
  private final AgentClient api;

  /** The operator's, which compares what a kubelet writes with it. */
  private final InstantSource clock = CDI.current().select(InstantSource.class).get();

  private final Map<String, Thread> threads = new ConcurrentHashMap<>();
  private final Map<String, Membership> memberships = new ConcurrentHashMap<>();
  private final Map<String, String> ends = new ConcurrentHashMap<>();
  private final Set<String> mute = new ConcurrentSkipListSet<>();
  private final Set<String> refused = new ConcurrentSkipListSet<>();
  private final Set<String> completeAt = new ConcurrentSkipListSet<>();
  private final Map<String, String> clients = new ConcurrentHashMap<>();
  private final Map<String, Integer> fits = new ConcurrentHashMap<>();
  private final Map<String, List<Long>> staleness = new ConcurrentHashMap<>();
  private final Set<String> unplaced = new ConcurrentSkipListSet<>();
  private final AtomicInteger unanswered = new AtomicInteger();
  private final Map<String, AtomicInteger> answered = new ConcurrentHashMap<>();
  private final List<String> started = new CopyOnWriteArrayList<>();
  private final Thread kubelet;
  private volatile boolean closed;

  FakeAgents(KubernetesClient client, AgentClient api) {
    this.client = client;
    this.api = api;
    kubelet = Thread.ofVirtual().name("fake-kubelet").start(this::run);
  }

  /** Pods in the order in which they were started. */
  List<String> started() {
    return started;
  }

  /** Polls that did not get an answer. */
  int unanswered() {
    return unanswered.get();
  }

  /** Polls of a pod that got an answer. */
  int answered(String pod) {
    return answered.getOrDefault(pod, new AtomicInteger()).get();
  }

  /** What a pod trains in now. */
  Optional<Membership> membership(String pod) {
    return Optional.ofNullable(memberships.get(pod));
  }

  /** Why the agents that do not run any more ended, by pod. */
  Map<String, String> ends() {
    return ends;
  }

  /** Makes pods of the job not get ready. */
  void mute(String pod) {
    mute.add(pod);
  }

  void unmute(String pod) {
    mute.remove(pod);
  }

  /** Makes pods of the job not start, as if their image could not be pulled. */
  void refuse(String job) {
    refused.add(job);
  }

  /** Lets the job's work be done. */
  void complete(String job) {
    completeAt.add(job);
  }

  /** Makes the job's first server count updates of this staleness. */
  void staleness(String job, List<Long> counts) {
    staleness.put(job, counts);
  }

  /** Lets no node take servers of the job, as if none had the memory that they ask for. */
  void unplaced(String job) {
    unplaced.add(job);
  }

  /** Lets nodes take them again. */
  void placed(String job) {
    unplaced.remove(job);
  }

  /** Makes the job's replicas say that they run this, in the form of a query. */
  void client(String job, String client) {
    clients.put(job, client);
  }

  /** Makes the job's replicas say that so many examples a pass fit their devices. */
  void fits(String job, int examples) {
    fits.put(job, examples);
  }

  /** Ends a pod as a process does whose device has no memory for a batch. */
  void outOfMemory(String namespace, String pod, int examples) {
    Thread thread = threads.remove(pod);
    if (thread != null) {
      thread.interrupt();
    }
    memberships.remove(pod);
    Outcome outcome =
        new Outcome(Outcome.Kind.FAILED, null, null, null, 0, "out of memory", examples);
    end(namespace, pod, "Failed", 1, outcome);
  }

  /** Ends a pod as a process does that leaves no word. */
  void crash(String namespace, String pod, int exitCode) {
    Thread thread = threads.remove(pod);
    if (thread != null) {
      thread.interrupt();
    }
    memberships.remove(pod);
    end(namespace, pod, exitCode == 0 ? "Succeeded" : "Failed", exitCode, null);
  }

  /** Ends a pod as a container does whose work is done. */
  void succeed(String namespace, String pod) {
    end(namespace, pod, "Succeeded", 0, null);
  }

  /** Makes a pod say nothing any more, as when its node lost its power. */
  void vanish(String pod) {
    threads.get(pod).interrupt();
  }

  @Override
  public void close() {
    closed = true;
    kubelet.interrupt();
    threads.values().forEach(Thread::interrupt);
  }

  private void run() {
    try {
      while (!closed) {
        for (Pod pod :
            client
                .pods()
                .inAnyNamespace()
                .withLabel("app.kubernetes.io/managed-by", "kastor")
                .list()
                .getItems()) {
          look(pod);
        }
        Thread.sleep(30);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (KubernetesClientException e) {
      // An interrupted request while closing.
      if (!closed) {
        throw e;
      }
    }
  }

  private void look(Pod pod) {
    String name = pod.getMetadata().getName();
    boolean fresh = pod.getStatus() == null || pod.getStatus().getPhase() == null;
    boolean gated = !pod.getSpec().getSchedulingGates().isEmpty();
    boolean server = PodName.serverIndex(name).isPresent();
    boolean waits =
        server && unplaced.contains(pod.getMetadata().getLabels().get("kastor.dev/job"));
    try {
      if (waits) {
        if (fresh) {
          setUnschedulable(pod);
        }
        return;
      }
      fresh = fresh || (server && "Pending".equals(pod.getStatus().getPhase()));
      if (fresh && refused.contains(pod.getMetadata().getLabels().get("kastor.dev/job"))) {
        setWaiting(pod);
      } else if (fresh && !gated && !threads.containsKey(name)) {
        setRunning(pod);
        boolean anyContainer =
            pod.getMetadata().getAnnotations().containsKey("kastor.dev/gang-first");
        threads.put(
            name,
            Thread.ofVirtual()
                .name(name)
                // The test ends what is no agent.
                .start(anyContainer ? () -> {} : () -> agent(pod)));
        // Last: whoever sees it may end it, and then there must be a thread to interrupt.
        started.add(name);
      }
    } catch (KubernetesClientException e) {
      // It was deleted or changed meanwhile.
      if (e.getCode() != HttpURLConnection.HTTP_NOT_FOUND
          && e.getCode() != HttpURLConnection.HTTP_CONFLICT) {
        throw e;
      }
    }
  }

  private void agent(Pod pod) {
    String namespace = pod.getMetadata().getNamespace();
    String name = pod.getMetadata().getName();
    String job = pod.getMetadata().getLabels().get("kastor.dev/job");
    String token = FakeApiServer.token(namespace, job, name);
    OptionalInt server = PodName.serverIndex(name);
    // What others reach it at: a server that is made again is somewhere else.
    String address = server.isPresent() ? name + ":1234" : "127.0.0.1:1234";
    long generation = 0;
    long step = -1;
    long sequence = 0;
    // As of a process of its own: what ends one agent's connection leaves the others'.
    try (AgentClient own = api.another()) {
      while (!Thread.currentThread().isInterrupted()) {
        String phase = mute.contains(name) ? "STARTING" : generation == 0 ? "READY" : "TRAINING";
        HttpResponse<String> answer =
            own.get(
                "/v1/jobs/%s/%s/membership?pod=%s&address=%s&generation=%d&phase=%s&step=%d&wait=1&client=%s&mostExamples=%d"
                    .formatted(
                        namespace,
                        job,
                        name,
                        address,
                        generation,
                        phase,
                        step,
                        clients.getOrDefault(job, "fake/1"),
                        fits.getOrDefault(job, 0)),
                token);
        if (answer.statusCode() != 200) {
          unanswered.incrementAndGet();
          Thread.sleep(50);
          continue;
        }
        answered.computeIfAbsent(name, _ -> new AtomicInteger()).incrementAndGet();
        Membership membership = JSON.readValue(answer.body(), Membership.class);
        switch (membership.action()) {
          case LEAVE -> {
            ends.put(name, "told to leave: " + answer.body());
            end(namespace, name, "Succeeded", 0, outcome(Outcome.Kind.LEFT, null));
            return;
          }
          case STOP -> {
            ends.put(name, "told to stop: " + answer.body());
            end(namespace, name, "Succeeded", 0, outcome(Outcome.Kind.STOPPED, null));
            return;
          }
          case RUN -> {
            if (!listed(membership, name)) {
              ends.put(name, "no member: " + answer.body());
              end(namespace, name, "Succeeded", 0, outcome(Outcome.Kind.LEFT, null));
              return;
            }
            generation = membership.generation();
            memberships.put(name, membership);
          }
          case WAIT -> {}
        }
        Membership mine = memberships.get(name);
        if (mine != null && generation > 0) {
          step += 10;
          boolean first =
              mine.serversOrNone().isEmpty()
                  ? mine.members().getFirst().pod().equals(name)
                  : server.equals(OptionalInt.of(0));
          boolean done = completeAt.contains(job);
          if (first) {
            Outcome last = done ? outcome(Outcome.Kind.COMPLETED, 0.9) : null;
            List<Long> counts = staleness.get(job);
            report(own, namespace, job, name, token, mine, step, ++sequence, last, counts);
          }
          if (done) {
            end(namespace, name, "Succeeded", 0, outcome(Outcome.Kind.COMPLETED, 0.9));
            return;
          }
        }
      }
    } catch (InterruptedException e) {
      ends.putIfAbsent(name, "interrupted");
      Thread.currentThread().interrupt();
    } catch (IOException e) {
      ends.putIfAbsent(name, e.toString());
      if (!closed) {
        throw new java.io.UncheckedIOException(e);
      }
    } finally {
      memberships.remove(name);
    }
  }

  private static boolean listed(Membership membership, String pod) {
    return membership.members().stream().anyMatch(member -> member.pod().equals(pod))
        || membership.serversOrNone().stream().anyMatch(server -> server.pod().equals(pod));
  }

  private static void report(
      AgentClient api,
      String namespace,
      String job,
      String pod,
      String token,
      Membership mine,
      long step,
      long sequence,
      Outcome outcome,
      List<Long> staleness)
      throws IOException, InterruptedException {
    int replicas = mine.members().size();
    var report =
        new TelemetryReport(
            namespace,
            job,
            pod,
            mine.generation(),
            sequence,
            replicas,
            mine.batchPlan(),
            List.of(
                new StepProfile(1, replicas, mine.batchPlan().atomicBatchSize(), 10, 0.02, 0.002)),
            new GradientStats(1, 8, 32),
            new Progress(Math.max(0, step), Math.max(0, step), 1000, Math.max(0, step) * 32, 0),
            0.5,
            0.1,
            null,
            List.of(),
            outcome,
            null,
            null,
            null,
            staleness == null ? null : new Staleness(staleness),
            staleness == null ? null : 7L);
    api.post(
        "/v1/jobs/%s/%s/telemetry".formatted(namespace, job),
        token,
        JSON.writeValueAsBytes(report));
  }

  private static Outcome outcome(Outcome.Kind kind, Double metric) {
    return new Outcome(kind, null, metric == null ? null : "accuracy", metric, 0, "as told");
  }

  private static String json(Outcome outcome) {
    try {
      return outcome == null ? null : JSON.writeValueAsString(outcome);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  private void setWaiting(Pod pod) {
    client
        .pods()
        .resource(
            new PodBuilder(pod)
                .withNewStatus()
                .withPhase("Pending")
                .addNewContainerStatus()
                .withName(pod.getSpec().getContainers().getFirst().getName())
                .withNewState()
                .withNewWaiting("Back-off pulling image", "ImagePullBackOff")
                .endState()
                .endContainerStatus()
                .endStatus()
                .build())
        .updateStatus();
  }

  /** As a scheduler and a kubelet do, but the status first: nobody may see it on no node. */
  private void setRunning(Pod pod) {
    Pod running =
        client
            .pods()
            .resource(new PodBuilder(pod).withNewStatus().withPhase("Running").endStatus().build())
            .updateStatus();
    String meant = pod.getMetadata().getAnnotations().get("kastor.dev/node");
    String node = meant == null ? anyNode(pod) : meant;
    client
        .pods()
        .resource(new PodBuilder(running).editSpec().withNodeName(node).endSpec().build())
        .update();
  }

  /** The first node that the pod does not have to avoid. */
  private String anyNode(Pod pod) {
    var affinity = pod.getSpec().getAffinity();
    Set<String> avoided =
        affinity == null
            ? Set.of()
            : affinity
                .getNodeAffinity()
                .getRequiredDuringSchedulingIgnoredDuringExecution()
                .getNodeSelectorTerms()
                .stream()
                .flatMap(term -> term.getMatchExpressions().stream())
                .filter(each -> each.getOperator().equals("NotIn"))
                .flatMap(each -> each.getValues().stream())
                .collect(Collectors.toSet());
    return client.nodes().list().getItems().stream()
        .map(node -> node.getMetadata().getName())
        .filter(node -> !avoided.contains(node))
        .sorted()
        .findFirst()
        .orElseThrow();
  }

  private void setUnschedulable(Pod pod) {
    client
        .pods()
        .resource(
            new PodBuilder(pod)
                .withNewStatus()
                .withPhase("Pending")
                .addNewCondition()
                .withType("PodScheduled")
                .withStatus("False")
                .withReason("Unschedulable")
                .withMessage("0/2 nodes are available: 2 Insufficient memory.")
                .withLastTransitionTime(clock.instant().minusSeconds(60).toString())
                .endCondition()
                .endStatus()
                .build())
        .updateStatus();
  }

  /** Ends a pod once: an agent may be told to leave while a test ends its pod otherwise. */
  private synchronized void end(
      String namespace, String name, String phase, int exitCode, Outcome outcome) {
    Pod pod = client.pods().inNamespace(namespace).withName(name).get();
    if (pod == null || ENDED.contains(pod.getStatus().getPhase())) {
      return;
    }
    client
        .pods()
        .resource(
            new PodBuilder(pod)
                .withNewStatus()
                .withPhase(phase)
                .addNewContainerStatus()
                .withName(pod.getSpec().getContainers().getFirst().getName())
                .withNewState()
                .withNewTerminated()
                .withExitCode(exitCode)
                .withFinishedAt(clock.instant().toString())
                .withMessage(json(outcome))
                .endTerminated()
                .endState()
                .endContainerStatus()
                .endStatus()
                .build())
        .updateStatus();
  }
}
