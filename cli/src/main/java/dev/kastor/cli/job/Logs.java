package dev.kastor.cli.job;

import dev.kastor.cli.connect.Cluster;
import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.view.ServerPods;
import dev.kastor.local.StateFolder;
import dev.kastor.local.kubelet.Kubelet;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.dsl.LogWatch;
import io.fabric8.kubernetes.client.dsl.PodResource;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalInt;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The output of replicas; in local mode also of those that are gone. */
final class Logs {
  private final ClusterOptions options;
  private final PrintWriter out;

  Logs(ClusterOptions options, PrintWriter out) {
    this.options = options;
    this.out = out;
  }

  void print(
      String job,
      @Nullable String pod,
      @Nullable Integer rank,
      @Nullable Integer server,
      boolean follow,
      int tail) {
    try (Cluster cluster = Cluster.connect(options)) {
      List<Pod> pods = cluster.pods(options.namespace(), job);
      String name =
          pod != null
              ? pod
              : server != null
                  ? server(pods, server)
                  : choose(pods.stream().filter(each -> !ServerPods.is(each)).toList(), rank);
      boolean present = pods.stream().anyMatch(p -> p.getMetadata().getName().equals(name));
      if (name != null && present) {
        print(cluster, name, follow, tail);
        return;
      }
      cluster.get(options.namespace(), job);
      Path kept = name == null ? newestKept(job) : kept(name);
      if (kept == null || !Files.exists(kept)) {
        throw new CliException(
            ExitCode.NOT_FOUND,
            "job %s has no replica%s to read from. See its state with: kastor describe %s"
                .formatted(job, name == null ? "" : " " + name, job));
      }
      copyKept(kept, tail);
    }
  }

  /** The pod that has been the server with an index since last. */
  private static String server(List<Pod> pods, int server) {
    return pods.stream()
        .filter(pod -> ServerPods.index(pod).equals(OptionalInt.of(server)))
        .map(pod -> pod.getMetadata().getName())
        .reduce((first, last) -> last)
        .orElseThrow(() ->
            new CliException(
                ExitCode.USAGE,
                "--server %d: the job has no pod of such a parameter server. See its pods with: kastor describe JOB"
                    .formatted(server)));
  }

  private static @Nullable String choose(List<Pod> pods, @Nullable Integer rank) {
    List<Pod> running =
        pods.stream().filter(p -> "Running".equals(p.getStatus().getPhase())).toList();
    if (rank != null) {
      if (rank < 0 || rank >= running.size()) {
        throw new CliException(
            ExitCode.USAGE,
            "--rank %d: %d replicas run (ranks start at 0)".formatted(rank, running.size()));
      }
      return running.get(rank).getMetadata().getName();
    }
    if (!running.isEmpty()) {
      return running.getFirst().getMetadata().getName();
    }
    return pods.isEmpty() ? null : pods.getLast().getMetadata().getName();
  }

  private void print(Cluster cluster, String pod, boolean follow, int tail) {
    PodResource resource = cluster.client().pods().inNamespace(options.namespace()).withName(pod);
    if (!follow) {
      out.print(
          cluster.call(() -> tail < 0 ? resource.getLog() : resource.tailingLines(tail).getLog()));
      out.flush();
      return;
    }
    try (LogWatch watch =
            cluster.call(
                () -> tail < 0 ? resource.watchLog() : resource.tailingLines(tail).watchLog());
        Reader reader = new InputStreamReader(watch.getOutput(), StandardCharsets.UTF_8)) {
      char[] buffer = new char[4096];
      for (int n = reader.read(buffer); n >= 0; n = reader.read(buffer)) {
        out.write(buffer, 0, n);
        out.flush();
      }
    } catch (IOException e) {
      throw new CliException(ExitCode.FAILED, "the log broke off: " + e.getMessage(), e);
    }
  }

  private @Nullable Path kept(String pod) {
    return !options.target().local() ? null : Kubelet.log(logs(), options.namespace(), pod);
  }

  private @Nullable Path newestKept(String job) {
    Path folder = logs().resolve(options.namespace());
    if (!options.target().local() || !Files.isDirectory(folder)) {
      return null;
    }
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .filter(f -> f.getFileName().toString().matches(Pattern.quote(job) + "-\\d+\\.log"))
          .max(Comparator.comparingLong((Path f) -> f.toFile().lastModified()))
          .orElse(null);
    } catch (IOException e) {
      throw new CliException(ExitCode.FAILED, "cannot read " + folder, e);
    }
  }

  private static Path logs() {
    return StateFolder.home().resolve("logs");
  }

  private void copyKept(Path file, int tail) {
    try {
      List<String> lines = Files.readAllLines(file, StandardCharsets.UTF_8);
      lines.stream().skip(tail < 0 ? 0 : Math.max(0, lines.size() - tail)).forEach(out::println);
      out.flush();
    } catch (IOException e) {
      throw new CliException(ExitCode.FAILED, "cannot read " + file, e);
    }
  }
}
