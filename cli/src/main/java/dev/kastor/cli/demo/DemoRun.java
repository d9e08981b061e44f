package dev.kastor.cli.demo;

import dev.kastor.cli.connect.Cluster;
import dev.kastor.cli.connect.Target;
import dev.kastor.cli.job.Reading;
import dev.kastor.cli.job.Waiting;
import dev.kastor.cli.manifest.ManifestFile;
import dev.kastor.cli.manifest.Refusal;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.terminal.Ink;
import dev.kastor.cli.terminal.Screen;
import dev.kastor.cli.view.JobView;
import dev.kastor.crds.trainingjob.TrainingJob;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Submits jobs one after another, shows them until all have ended, and remembers their sizes. */
final class DemoRun {
  private static final Duration PERIOD = Duration.ofMillis(500);

  private final PrintWriter out;
  private final Path kubeconfig;
  private final Arrivals arrivals;
  private final Duration patience;
  private final Map<String, String> said = new LinkedHashMap<>();
  private final Map<String, SizeTrack> tracks = new LinkedHashMap<>();

  DemoRun(PrintWriter out, Path kubeconfig, Arrivals arrivals, Duration patience) {
    this.out = out;
    this.kubeconfig = kubeconfig;
    this.arrivals = arrivals;
    this.patience = patience;
  }

  Result run(List<ManifestFile> jobs) throws InterruptedException {
    Screen screen = new Screen(out, Ink.watched());
    Instant start = Instant.now();
    List<Duration> offsets = new ArrayList<>();
    try (Cluster cluster = Cluster.connect(Target.find(kubeconfig, null, Map.of()).config())) {
      while (true) {
        Instant now = Instant.now();
        Duration passed = Duration.between(start, now);
        if (offsets.size() < jobs.size()
            && arrivals.due(offsets, passed, cluster.jobs("default"))) {
          submit(cluster, jobs.get(offsets.size()));
          offsets.add(passed);
        }
        List<TrainingJob> present = cluster.jobs("default");
        List<JobView> views = present.stream().map(JobView::of).toList();
        views.forEach(v -> tracks.computeIfAbsent(v.name(), n -> new SizeTrack()).add(v));
        show(screen, views, now);
        boolean ended = offsets.size() == jobs.size() && views.stream().allMatch(JobView::ended);
        if (ended || now.isAfter(start.plus(patience))) {
          screen.keep();
          return new Result(present, Map.copyOf(tracks), List.copyOf(offsets), ended);
        }
        Thread.sleep(PERIOD);
      }
    }
  }

  private static void submit(Cluster cluster, ManifestFile job) {
    try {
      var _ = cluster.create("default", job.resource(), false);
    } catch (KubernetesClientException e) {
      throw new CliException(ExitCode.FAILED, String.join("\n        ", Refusal.lines(job, e)), e);
    }
  }

  private void show(Screen screen, List<JobView> views, Instant now) {
    if (Ink.watched()) {
      screen.show(Reading.table(views, now));
      return;
    }
    for (JobView view : views) {
      String line = Waiting.progressLine(view);
      if (!line.equals(said.put(view.name(), line))) {
        out.println("  " + line);
        out.flush();
      }
    }
  }

  /**
   * What came out.
   *
   * @param jobs the jobs in their last state
   * @param tracks sizes and batches over time, by job
   * @param offsets when each was submitted, from the start of the run
   * @param ended whether all ended in time
   */
  public record Result(
      List<TrainingJob> jobs,
      Map<String, SizeTrack> tracks,
      List<Duration> offsets,
      boolean ended) {
    boolean good() {
      return ended && jobs.stream().map(JobView::of).allMatch(JobView::succeeded);
    }

    List<JobView> views() {
      return new ArrayList<>(jobs.stream().map(JobView::of).toList());
    }
  }
}
