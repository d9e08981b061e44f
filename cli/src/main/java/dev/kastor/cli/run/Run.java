package dev.kastor.cli.run;

import dev.kastor.cli.connect.Cluster;
import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.job.Changing;
import dev.kastor.cli.job.SubmitOptions;
import dev.kastor.cli.job.Waiting;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.Console;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Job of a command line, from its submission to its end. What its replicas say goes to standard
 * output, what becomes of it to standard error.
 */
final class Run {
  private static final Duration LAST_WORDS = Duration.ofSeconds(5);

  /** A process that is told to end has to: nobody may be there to answer. */
  private static final Duration ANSWER = Duration.ofSeconds(15);

  private static final Duration STOP = Duration.ofSeconds(12);
  private static final Duration POLL = Duration.ofMillis(50);

  private final ClusterOptions options;
  private final PrintWriter out;
  private final PrintWriter err;

  Run(ClusterOptions options, PrintWriter out, PrintWriter err) {
    this.options = options;
    this.out = out;
    this.err = err;
  }

  /**
   * Submits the job, and unless {@code detach} follows it; the exit status is the job's.
   *
   * @param remedy what is said where it fails; empty for nothing
   */
  int run(GenericKubernetesResource job, SubmitOptions more, boolean detach, String remedy)
      throws InterruptedException {
    String name = job.getMetadata().getName();
    try (Cluster cluster = Cluster.connect(options)) {
      more.check(cluster, options.namespace());
      try {
        var _ = cluster.create(options.namespace(), job, false);
      } catch (KubernetesClientException e) {
        throw refused(e);
      }
      say("submitted %s; its page and state: kastor describe %s".formatted(name, name));
      if (detach) {
        say("follow it with: kastor logs %s -f".formatted(name));
        return ExitCode.OK;
      }
      try (Follower follower = new Follower(cluster, options.namespace(), name, out, err)) {
        int code =
            new Waiting(cluster, err).until(List.of(new Waiting.Job(options.namespace(), name)));
        follower.finish(LAST_WORDS);
        if (code == ExitCode.FAILED && !remedy.isEmpty()) {
          say(remedy);
        }
        return code;
      }
    } catch (InterruptedException e) {
      // The flag is clear now, so that what follows can wait for the answer and for the stop.
      return left(name);
    }
  }

  private static CliException refused(KubernetesClientException e) {
    String why = e.getStatus() == null ? e.getMessage() : e.getStatus().getMessage();
    return new CliException(ExitCode.USAGE, String.valueOf(why), e);
  }

  /** Somebody wants to go: whether the job goes as well is asked where there is somebody to ask. */
  private int left(String name) throws InterruptedException {
    boolean attended =
        Optional.ofNullable(System.console()).filter(Console::isTerminal).isPresent();
    if (attended && asksToStop(name)) {
      new Changing(options, err).stop(List.of(name), STOP);
      say("go on with it: kastor resume %s; remove it: kastor rm %s".formatted(name, name));
    } else {
      say(
          "%s goes on. Follow it with: kastor logs %s -f; end it with: kastor stop %s"
              .formatted(name, name, name));
    }
    return ExitCode.FAILED;
  }

  private boolean asksToStop(String name) throws InterruptedException {
    say("\nStop %s? It goes on without you otherwise. [y/N]".formatted(name));
    StringBuilder answer = new StringBuilder();
    long end = System.nanoTime() + ANSWER.toNanos();
    try {
      InputStream in = System.in;
      while (System.nanoTime() < end && answer.indexOf("\n") < 0) {
        byte[] typed = in.readNBytes(in.available());
        answer.append(new String(typed, StandardCharsets.UTF_8));
        Thread.sleep(POLL);
      }
    } catch (IOException e) {
      return false;
    }
    return answer.toString().strip().toLowerCase(Locale.ROOT).startsWith("y");
  }

  private void say(String line) {
    err.println(line);
    err.flush();
  }
}
