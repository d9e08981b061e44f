package dev.kastor.cli.run;

import dev.kastor.cli.connect.Cluster;
import dev.kastor.cli.terminal.CliException;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.LogWatch;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Output of a job's oldest replica, as it comes, and of the next one when that ends: a thread of
 * its own.
 */
final class Follower implements AutoCloseable {
  private static final Duration PERIOD = Duration.ofMillis(200);
  private static final Set<String> STARTED = Set.of("Running", "Succeeded", "Failed");

  private final Cluster cluster;
  private final String namespace;
  private final String job;
  private final PrintWriter out;
  private final Set<String> followed = new HashSet<>();
  private final Thread thread;
  private volatile boolean last;
  private volatile boolean closed;

  Follower(Cluster cluster, String namespace, String job, PrintWriter out) {
    this.cluster = cluster;
    this.namespace = namespace;
    this.job = job;
    this.out = out;
    thread = Thread.ofVirtual().name("logs of " + job).start(this::run);
  }

  private void run() {
    try {
      while (true) {
        boolean ending = last;
        Optional<String> pod = next();
        if (pod.isPresent()) {
          followed.add(pod.get());
          follow(pod.get());
        } else if (ending) {
          return;
        } else {
          Thread.sleep(PERIOD);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (CliException e) {
      // Whoever waits for the job meets the same, and says it.
    } catch (IllegalStateException e) {
      // The connection is closed under a request when whoever followed the job leaves.
      if (!closed) {
        throw e;
      }
    }
  }

  private Optional<String> next() {
    List<Pod> pods = cluster.pods(namespace, job);
    return pods.stream()
        .filter(pod -> pod.getStatus() != null && STARTED.contains(pod.getStatus().getPhase()))
        .map(pod -> pod.getMetadata().getName())
        .filter(pod -> !followed.contains(pod))
        .findFirst();
  }

  private void follow(String pod) {
    try (LogWatch watch = cluster.client().pods().inNamespace(namespace).withName(pod).watchLog();
        Reader reader = new InputStreamReader(watch.getOutput(), StandardCharsets.UTF_8)) {
      char[] buffer = new char[4096];
      for (int n = reader.read(buffer); n >= 0; n = reader.read(buffer)) {
        synchronized (out) {
          out.write(buffer, 0, n);
          out.flush();
        }
      }
    } catch (IOException | KubernetesClientException e) {
      // The replica went meanwhile; the next one is looked for.
    }
  }

  /** Ends once what the replicas have said is printed, and at the latest after that time. */
  void finish(Duration patience) throws InterruptedException {
    last = true;
    thread.join(patience);
  }

  @Override
  public void close() {
    closed = true;
    thread.interrupt();
  }
}
