package dev.kastor.cli.job;

import dev.kastor.cli.connect.Cluster;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.terminal.Format;
import dev.kastor.cli.view.FailureReason;
import dev.kastor.cli.view.JobView;
import dev.kastor.crds.trainingjob.TrainingJob;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Waits for jobs to end and says what changes meanwhile. */
public final class Waiting {
  private static final Duration PERIOD = Duration.ofMillis(500);

  private final Cluster cluster;
  private final PrintWriter out;

  public Waiting(Cluster cluster, PrintWriter out) {
    this.cluster = cluster;
    this.out = out;
  }

  /** Returns the exit status: whether all succeeded. */
  public int until(List<Job> jobs) throws InterruptedException {
    try {
      return watch(jobs);
    } catch (CliException e) {
      // A request that is interrupted looks like one that nobody answers.
      if (Thread.interrupted()) {
        throw interrupted(e);
      }
      throw e;
    }
  }

  private static InterruptedException interrupted(CliException request) {
    InterruptedException interrupted = new InterruptedException("while a request was under way");
    interrupted.initCause(request);
    return interrupted;
  }

  private int watch(List<Job> jobs) throws InterruptedException {
    Map<Job, String> said = new HashMap<>();
    Map<Job, ReplicaFailures> failures = new HashMap<>();
    while (true) {
      boolean allEnded = true;
      boolean allGood = true;
      for (Job job : jobs) {
        TrainingJob now = cluster.find(job.namespace(), job.name());
        if (now == null) {
          throw new CliException(ExitCode.FAILED, "job " + job.name() + " was removed");
        }
        JobView view = JobView.of(now);
        String line = progressLine(view);
        if (!line.equals(said.put(job, line))) {
          out.println(line);
          FailureReason.of(now).ifPresent(why -> out.println("  " + why));
          out.flush();
        }
        if (!view.ended()) {
          ReplicaFailures known = failures.computeIfAbsent(job, each -> new ReplicaFailures());
          known.news(cluster, now).forEach(why -> out.println("  " + why));
          out.flush();
        }
        allEnded &= view.ended();
        allGood &= view.succeeded();
      }
      if (allEnded) {
        return allGood ? ExitCode.OK : ExitCode.FAILED;
      }
      Thread.sleep(PERIOD);
    }
  }

  /** One line that changes with phase, size, batch and every tenth of the work. */
  public static String progressLine(JobView view) {
    StringBuilder line = new StringBuilder(view.name() + ": " + view.phase());
    if (view.ended()) {
      if (view.jctSeconds() != null) {
        line.append(" after ").append(Format.seconds(view.jctSeconds()));
      }
      if (view.finalMetric() != null) {
        line.append(", ")
            .append(view.metricName())
            .append(' ')
            .append(Format.number(view.finalMetric()));
      }
      return line.toString();
    }
    if (view.replicas() > 0) {
      line.append(", ")
          .append(view.replicas())
          .append(view.replicas() == 1 ? " replica" : " replicas")
          .append(view.each());
    }
    if (view.globalBatch() != null && view.globalBatch() > 0) {
      line.append(", batch ").append(view.globalBatch());
    }
    if (view.percent() != null) {
      line.append(", ").append(view.percent() / 10 * 10).append("% done");
    }
    return line.toString();
  }

  /** Which job. */
  public record Job(String namespace, String name) {}
}
