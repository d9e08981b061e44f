package dev.kastor.cli.job;

import dev.kastor.cli.connect.Cluster;
import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.manifest.Refusal;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.view.JobView;
import dev.kastor.crds.trainingjob.ElasticSpec.AllowedReplicasKind;
import dev.kastor.crds.trainingjob.Pin;
import dev.kastor.crds.trainingjob.TrainingJob;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The commands that say how large a job may be. */
final class Scaling {
  private static final int INVALID = 422;

  private final ClusterOptions options;
  private final PrintWriter out;

  Scaling(ClusterOptions options, PrintWriter out) {
    this.options = options;
    this.out = out;
  }

  void scale(
      String name, @Nullable Integer min, @Nullable Integer max, @Nullable Integer replicas) {
    if (replicas == null ? min == null && max == null : min != null || max != null) {
      throw new CliException(
          ExitCode.USAGE,
          replicas == null
              ? "say how: --min N, --max N or both, or --replicas N"
              : "--replicas sets both bounds, so it goes without --min and --max");
    }
    List<String> fields = new ArrayList<>();
    add(fields, "minReplicas", replicas == null ? min : replicas);
    add(fields, "maxReplicas", replicas == null ? max : replicas);
    try (Cluster cluster = Cluster.connect(options)) {
      JobView view = living(cluster, name, "scaled");
      patch(cluster, name, "{\"spec\":{\"elastic\":{%s}}}".formatted(String.join(",", fields)));
      JobView after = JobView.of(cluster.get(options.namespace(), name));
      out.printf(
          "%s may have %d to %d replicas (before: %d to %d)%n",
          name, after.minReplicas(), after.maxReplicas(), view.minReplicas(), view.maxReplicas());
      if (after.pinned() != null) {
        out.printf(
            "  but it is pinned (%s); end that with: kastor pin %s --unpin%n",
            after.pinned(), name);
      }
      out.flush();
    }
  }

  private static void add(List<String> fields, String name, @Nullable Integer value) {
    if (value != null) {
      fields.add("\"%s\":%d".formatted(name, value));
    }
  }

  void pinHere(String name) {
    try (Cluster cluster = Cluster.connect(options)) {
      JobView view = living(cluster, name, "pinned");
      annotate(cluster, name, "\"%s\"".formatted(Pin.HERE));
      say(
          view.replicas() == 0
              ? name + " keeps the first replicas and nodes that it gets"
              : "%s keeps its %d replicas%s"
                  .formatted(
                      name,
                      view.replicas(),
                      view.nodes() == null
                          ? ""
                          : " on " + String.join(", ", view.nodes().keySet())));
    }
  }

  void pinAt(String name, int replicas) {
    try (Cluster cluster = Cluster.connect(options)) {
      JobView view = living(cluster, name, "pinned");
      if (replicas < view.minReplicas() || replicas > view.maxReplicas()) {
        throw new CliException(
            ExitCode.USAGE,
            "--at %d: job %s may have %d to %d replicas. Widen that first: kastor scale %s --%s %d"
                .formatted(
                    replicas,
                    name,
                    view.minReplicas(),
                    view.maxReplicas(),
                    name,
                    replicas < view.minReplicas() ? "min" : "max",
                    replicas));
      }
      if (powersOfTwo(cluster.get(options.namespace(), name)) && Integer.bitCount(replicas) != 1) {
        throw new CliException(
            ExitCode.USAGE,
            "--at %d: job %s runs with powers of two alone (allowedReplicas)"
                .formatted(replicas, name));
      }
      annotate(cluster, name, "\"%d\"".formatted(replicas));
      say(
          "%s runs with %d %s or waits"
              .formatted(name, replicas, replicas == 1 ? "replica" : "replicas"));
    }
  }

  private static boolean powersOfTwo(TrainingJob job) {
    var elastic = job.getSpec().elastic();
    return elastic != null && elastic.allowedReplicas() == AllowedReplicasKind.PowersOfTwo;
  }

  void unpin(String name) {
    try (Cluster cluster = Cluster.connect(options)) {
      JobView view = JobView.of(cluster.get(options.namespace(), name));
      annotate(cluster, name, "null");
      say(
          view.pinned() == null
              ? name + " was not pinned"
              : "the scheduler decides on %s again".formatted(name));
    }
  }

  private void annotate(Cluster cluster, String name, String value) {
    patch(
        cluster,
        name,
        "{\"metadata\":{\"annotations\":{\"%s\":%s}}}".formatted(Pin.ANNOTATION, value));
  }

  private JobView living(Cluster cluster, String name, String done) {
    JobView view = JobView.of(cluster.get(options.namespace(), name));
    if (view.ended()) {
      throw new CliException(
          ExitCode.FAILED,
          "job %s has ended (%s), so it cannot be %s".formatted(name, view.phase(), done));
    }
    return view;
  }

  /** What the server's schema and rules refuse is a wrong argument. */
  private void patch(Cluster cluster, String name, String body) {
    cluster.call(() -> {
      try {
        return cluster.patched(options.namespace(), name, body);
      } catch (KubernetesClientException e) {
        if (e.getCode() == INVALID) {
          throw new CliException(ExitCode.USAGE, String.join("\n        ", Refusal.points(e)), e);
        }
        throw e;
      }
    });
  }

  private void say(String line) {
    out.println(line);
    out.flush();
  }
}
