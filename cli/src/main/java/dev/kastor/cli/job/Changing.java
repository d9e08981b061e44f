package dev.kastor.cli.job;

import dev.kastor.cli.connect.Cluster;
import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.view.JobView;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;

/** The commands that change jobs that exist. */
public final class Changing {
  private static final Duration PERIOD = Duration.ofMillis(300);

  private final ClusterOptions options;
  private final PrintWriter out;

  public Changing(ClusterOptions options, PrintWriter out) {
    this.options = options;
    this.out = out;
  }

  void suspend(JobChoice jobs, boolean suspend) {
    try (Cluster cluster = Cluster.connect(options)) {
      for (String name : jobs.in(cluster, options.namespace(), job -> !job.ended())) {
        suspend(cluster, name, suspend);
      }
    }
  }

  private void suspend(Cluster cluster, String name, boolean suspend) {
    JobView view = JobView.of(cluster.get(options.namespace(), name));
    if (view.ended()) {
      throw new CliException(
          ExitCode.FAILED,
          "job %s has ended (%s), so it cannot be %s"
              .formatted(name, view.phase(), suspend ? "suspended" : "resumed"));
    }
    cluster.patch(options.namespace(), name, "{\"spec\":{\"suspend\":%s}}".formatted(suspend));
    say(
        suspend
            ? name
                + " saves a checkpoint and gives its replicas back; go on with: kastor resume "
                + name
            : name + " goes on as soon as there is room");
  }

  /** Suspends jobs and waits until their state is saved and nothing of them runs. */
  public void stop(List<String> names, Duration patience) throws InterruptedException {
    stop(JobChoice.of(names), patience);
  }

  void stop(JobChoice jobs, Duration patience) throws InterruptedException {
    try (Cluster cluster = Cluster.connect(options)) {
      List<String> names = jobs.in(cluster, options.namespace(), job -> !job.ended());
      for (String name : names) {
        suspend(cluster, name, true);
      }
      long end = System.nanoTime() + patience.toNanos();
      for (String name : names) {
        awaitStopped(cluster, name, end);
      }
    }
  }

  private void awaitStopped(Cluster cluster, String name, long end) throws InterruptedException {
    while (true) {
      TrainingJob job = cluster.get(options.namespace(), name);
      JobView view = JobView.of(job);
      boolean gone =
          cluster.pods(options.namespace(), name).stream()
              .noneMatch(
                  p -> p.getStatus() == null || isActive(String.valueOf(p.getStatus().getPhase())));
      if (gone && (view.ended() || view.phase().equals(Phase.Suspended.name()))) {
        var training = job.getStatus().training();
        Long step = training == null ? null : training.checkpointStep();
        say(name + " stopped" + (step == null ? "" : "; checkpoint at step " + step));
        return;
      }
      if (System.nanoTime() > end) {
        throw new CliException(
            ExitCode.FAILED,
            "job %s is still %s. Look at it with: kastor describe %s"
                .formatted(name, view.phase(), name));
      }
      Thread.sleep(PERIOD);
    }
  }

  private static boolean isActive(String phase) {
    return !phase.equals("Succeeded") && !phase.equals("Failed");
  }

  void remove(JobChoice jobs) {
    try (Cluster cluster = Cluster.connect(options)) {
      List<String> names = jobs.in(cluster, options.namespace(), job -> true);
      names.forEach(name -> cluster.get(options.namespace(), name));
      for (String name : names) {
        cluster.delete(options.namespace(), name);
        say("removed " + name);
      }
    }
  }

  private void say(String line) {
    out.println(line);
    out.flush();
  }
}
