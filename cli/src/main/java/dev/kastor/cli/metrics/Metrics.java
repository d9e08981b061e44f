package dev.kastor.cli.metrics;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kastor.cli.connect.Cluster;
import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.connect.OperatorAway;
import dev.kastor.cli.connect.OperatorPage;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.terminal.Format;
import dev.kastor.cli.terminal.Paper;
import dev.kastor.cli.view.JobView;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Summary and export of a job's series. */
final class Metrics {
  private static final Duration PAUSE = Duration.ofSeconds(5);
  private static final DateTimeFormatter CREATED =
      DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss").withZone(ZoneOffset.UTC);

  private final ClusterOptions options;
  private final PrintWriter out;
  private final PrintWriter err;

  /** Takes the points that are told; each time all of them. */
  private interface Sink extends AutoCloseable {
    void accept(List<Point> points) throws IOException;

    @Override
    void close() throws IOException;
  }

  Metrics(ClusterOptions options, PrintWriter out, PrintWriter err) {
    this.options = options;
    this.out = out;
    this.err = err;
  }

  /** Prints what there is of each series. */
  void summary(String job) {
    try (Cluster cluster = Cluster.connect(options)) {
      cluster.get(options.namespace(), job);
      List<Point> points = points(cluster, job);
      if (points.isEmpty()) {
        out.println("nothing was measured yet, or the operator has forgotten it");
      } else {
        SeriesSummary.table(points, Paper.width()).forEach(out::println);
      }
      out.flush();
    } catch (OperatorAway e) {
      throw unknown(e);
    }
  }

  private static CliException unknown(OperatorAway e) {
    return new CliException(ExitCode.FAILED, "the series are not known: " + e.getMessage(), e);
  }

  /**
   * Writes the points of a job.
   *
   * @param folder where to; standard output if absent
   * @param watch whether to go on until the job ends
   * @throws IOException if a file cannot be written; it then has whole points only
   */
  void export(String job, MetricsOutput output, @Nullable Path folder, boolean watch)
      throws IOException, InterruptedException {
    try (Cluster cluster = Cluster.connect(options)) {
      JobView view = JobView.of(cluster.get(options.namespace(), job));
      Instant created = Format.instant(view.created()).orElse(Instant.EPOCH);
      PointFormat format = output.format(created);
      try (Sink sink =
          folder == null ? new Printed(format) : new Written(file(folder, view, created, format))) {
        boolean ended = view.ended();
        boolean away = tell(cluster, job, sink, watch, false);
        while (watch && !ended) {
          Thread.sleep(PAUSE);
          // Asked first: what was reported before the end is then told.
          ended = JobView.of(cluster.get(options.namespace(), job)).ended();
          away = tell(cluster, job, sink, !ended, away);
        }
      }
    }
  }

  private PointFile file(Path folder, JobView view, Instant created, PointFormat format)
      throws IOException {
    String name = "%s-%s%s".formatted(view.name(), CREATED.format(created), format.ending());
    return PointFile.open(folder.resolve(view.namespace()).resolve(name), format);
  }

  /** Tells a sink what the operator knows; whether the operator was away, which may be borne. */
  private boolean tell(Cluster cluster, String job, Sink sink, boolean patient, boolean wasAway)
      throws IOException {
    try {
      sink.accept(points(cluster, job));
      return false;
    } catch (OperatorAway e) {
      if (!patient) {
        throw unknown(e);
      }
      if (!wasAway) {
        err.println("kastor: " + e.getMessage() + ". It is asked again every 5 s");
        err.flush();
      }
      return true;
    }
  }

  private List<Point> points(Cluster cluster, String job) throws OperatorAway {
    // Opened each time: a forwarded port ends with the operator's pod.
    try (OperatorPage page = OperatorPage.open(cluster, options)) {
      return page.json("/api/v1/jobs/%s/%s/history".formatted(options.namespace(), job))
          .map(Series::of)
          .orElse(List.of());
    }
  }

  /** Lines on standard output. */
  private final class Printed implements Sink {
    private final PointFormat format;
    private final NewestPoints newest = new NewestPoints();

    private Printed(PointFormat format) {
      this.format = format;
      print(format.head());
    }

    @Override
    public void accept(List<Point> points) {
      newest.take(points).forEach(point -> print(format.encode(point)));
    }

    private void print(byte[] line) {
      out.print(new String(line, UTF_8));
      out.flush();
    }

    @Override
    public void close() {}
  }

  /** A file that grows. */
  private final class Written implements Sink {
    private final PointFile file;
    private int added;

    private Written(PointFile file) {
      this.file = file;
    }

    @Override
    public void accept(List<Point> points) throws IOException {
      added += file.add(points);
    }

    @Override
    public void close() throws IOException {
      file.close();
      out.println("%d points added to %s".formatted(added, file.path()));
      out.flush();
    }
  }
}
