package dev.kastor.e2e.watch;

import dev.kastor.crds.queue.Queue;
import dev.kastor.crds.trainingjob.TrainingJob;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Watches a cluster from outside until its input ends, and writes each violation with the time and
 * what was seen as one line.
 *
 * <p>Each line of its input is {@code namespace/name} of a job that its user is about to delete.
 */
public final class Watcher {
  /** What a line begins with, after the time, that reports a violation. */
  public static final String VIOLATION = "VIOLATION";

  /** What a line begins with that says that the watcher is awake. */
  public static final String AWAKE = "watching";

  private static final Duration LEFT_OVER = Duration.ofSeconds(90);
  private static final long LOOK_MILLIS = 500;
  private static final int LOOKS_PER_LINE = 10;

  private final List<Rule> rules =
      List.of(
          new GpusAreGivenOnce(),
          new SchedulerAgrees(),
          new DevicesAreHeldOnce(),
          new ReplicasAreWhole(),
          new JobsStay(),
          new NumbersGrow(),
          new QuotasAreKept(),
          new ExamplesCount(),
          new NothingIsLeftOver(LEFT_OVER));
  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
  private final Set<String> reported = new HashSet<>();
  private final Set<String> userDeleted = new HashSet<>();
  private final Mirror<Pod> pods;
  private final Mirror<TrainingJob> jobs;
  private final Mirror<Node> nodes;
  private final Mirror<Queue> queues;
  private long looks;

  private Watcher(KubernetesClient client) {
    pods = new Mirror<>(client.pods().inAnyNamespace(), "pods", this::lookAgain);
    jobs =
        new Mirror<>(client.resources(TrainingJob.class).inAnyNamespace(), "jobs", this::lookAgain);
    nodes = new Mirror<>(client.nodes(), "nodes", this::lookAgain);
    queues = new Mirror<>(client.resources(Queue.class), "queues", this::lookAgain);
  }

  /** Watches the cluster of the current kubeconfig. */
  public static void main(String[] args) throws IOException, InterruptedException {
    try (KubernetesClient client = new KubernetesClientBuilder().build();
        BufferedReader in =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      Watcher watcher = new Watcher(client);
      Thread ears = Thread.ofPlatform().start(() -> watcher.listen(in));
      while (ears.isAlive()) {
        watcher.lookAgain();
        Thread.sleep(LOOK_MILLIS);
        watcher.sayNowAndThen();
      }
    }
    System.exit(0);
  }

  private void listen(BufferedReader in) {
    try {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        synchronized (this) {
          userDeleted.add(line.strip());
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private synchronized void lookAgain() {
    // The first event comes before the constructor is done.
    if (pods == null || jobs == null || nodes == null || queues == null) {
      return;
    }
    World world;
    try {
      world =
          new World(
              pods.objects(),
              jobs.objects(),
              nodes.objects(),
              queues.objects(),
              AgentProcess.all(),
              userDeleted,
              Instant.now());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    looks++;
    for (Rule rule : rules) {
      for (Finding finding : rule.broken(world)) {
        if (reported.add(finding.rule() + finding.subject())) {
          out.printf(
              "%s %s %s: %s: %s%n",
              world.now(), VIOLATION, finding.rule(), finding.subject(), finding.evidence());
        }
      }
    }
  }

  private synchronized void sayNowAndThen() throws IOException {
    if (looks >= LOOKS_PER_LINE) {
      out.printf(
          "%s %s %d pods, %d jobs, %d nodes, %d processes; %d looks, %d violations so far%n",
          Instant.now(),
          AWAKE,
          pods.objects().size(),
          jobs.objects().size(),
          nodes.objects().size(),
          AgentProcess.all().size(),
          looks,
          reported.size());
      looks = 0;
    }
  }
}
