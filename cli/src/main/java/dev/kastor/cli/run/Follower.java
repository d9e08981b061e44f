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
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Output of a job's oldest replica, as it comes, on a thread of its own. When that replica ends,
 * another one follows under its name: of one that ran meanwhile its last lines and what comes, as
 * it said the same before.
 */
final class Follower implements AutoCloseable {
  private static final Duration PERIOD = Duration.ofMillis(200);
  private static final Set<String> STARTED = Set.of("Running", "Succeeded", "Failed");
  private static final int LAST_LINES = 20;

  /** Replicas of one job end one after the other: what has ended by then needs no follower. */
  private static final Duration END_TOGETHER = Duration.ofSeconds(1);

  private final Cluster cluster;
  private final String namespace;
  private final String job;
  private final PrintWriter out;
  private final PrintWriter err;
  private final Set<String> followed = new HashSet<>();

  /** Replicas that have said something while another one was followed. */
  private final Set<String> passedOver = new HashSet<>();

  private final Thread thread;
  private volatile boolean last;
  private volatile boolean closed;

  Follower(Cluster cluster, String namespace, String job, PrintWriter out, PrintWriter err) {
    this.cluster = cluster;
    this.namespace = namespace;
    this.job = job;
    this.out = out;
    this.err = err;
    thread = Thread.ofVirtual().name("logs of " + job).start(this::run);
  }

  private void run() {
    try {
      while (true) {
        boolean ending = last;
        Optional<Pod> pod = next();
        if (pod.isPresent()) {
          String name = pod.get().getMetadata().getName();
          followed.add(name);
          follow(name);
          passOver();
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

  private Optional<Pod> next() {
    return started().filter(pod -> !followed.contains(pod.getMetadata().getName())).findFirst();
  }

  private Stream<Pod> started() {
    return cluster.pods(namespace, job).stream()
        .filter(pod -> pod.getStatus() != null && STARTED.contains(pod.getStatus().getPhase()));
  }

  /** Notes who ran while another one was followed; who has ended well too has nothing to add. */
  private void passOver() throws InterruptedException {
    if (next().isEmpty()) {
      return;
    }
    Thread.sleep(END_TOGETHER);
    started()
        .forEach(pod -> {
          String name = pod.getMetadata().getName();
          if (!followed.contains(name)) {
            passedOver.add(name);
            if (pod.getStatus().getPhase().equals("Succeeded")) {
              followed.add(name);
            }
          }
        });
  }

  private void follow(String pod) {
    var log = cluster.client().pods().inNamespace(namespace).withName(pod);
    boolean repeats = passedOver.contains(pod);
    if (!followed.equals(Set.of(pod))) {
      err.println(
          repeats
              ? "output of %s, from its last %d lines on:".formatted(pod, LAST_LINES)
              : "output of %s:".formatted(pod));
      err.flush();
    }
    try (LogWatch watch = repeats ? log.tailingLines(LAST_LINES).watchLog() : log.watchLog();
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
