package dev.kastor.cli.whatif;

import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.scheduler.live.LiveCluster;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.whatif.Supposition;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Changes that a user asks about, as typed.
 *
 * @param files of jobs to add
 * @param policy another one; null for the cluster's
 * @param nodes such as {@code +2xa100}
 * @param quotas such as {@code research=8}
 * @param priorities such as {@code bert=10}
 * @param unknown how long a job trains of which nobody knows it
 */
record Asked(
    List<Path> files,
    @Nullable String policy,
    List<String> nodes,
    List<String> quotas,
    List<String> priorities,
    Duration unknown) {
  private static final Pattern NODES = Pattern.compile("([+-]\\d{1,6})(?:x(.*))?");
  private static final Pattern NUMBER = Pattern.compile("-?\\d{1,9}");

  Asked {
    files = List.copyOf(files);
    nodes = List.copyOf(nodes);
    quotas = List.copyOf(quotas);
    priorities = List.copyOf(priorities);
  }

  /** Refuses what no cluster has, before one is asked. */
  void check() {
    nodes.forEach(Asked::matched);
    quotas.forEach(Asked::quota);
    priorities.forEach(text -> priority(text, ""));
  }

  /**
   * The changes but for jobs to add.
   *
   * @param namespace of jobs that are named without one
   */
  List<Supposition> suppositions(LiveCluster cluster, String namespace) {
    List<Supposition> suppositions = new ArrayList<>();
    if (policy != null) {
      suppositions.add(new Supposition.Policy(policy));
    }
    nodes.forEach(text -> suppositions.add(nodes(text, cluster)));
    quotas.forEach(text -> suppositions.add(quota(text)));
    priorities.forEach(text -> suppositions.add(priority(text, namespace)));
    return suppositions;
  }

  private static Matcher matched(String text) {
    Matcher matcher = NODES.matcher(text);
    if (!matcher.matches()) {
      throw usage(
          "--nodes %s must be a number with its sign, x and a GPU type, such as +2xa100"
              .formatted(text));
    }
    if (Integer.parseInt(matcher.group(1)) == 0) {
      throw usage("--nodes %s changes nothing".formatted(text));
    }
    return matcher;
  }

  private static Supposition nodes(String text, LiveCluster cluster) {
    Matcher matcher = matched(text);
    int count = Integer.parseInt(matcher.group(1));
    String type = matcher.group(2);
    if (type == null) {
      List<String> types = cluster.nodes().stream().map(Node::gpuType).distinct().toList();
      if (types.size() != 1) {
        throw usage(
            "--nodes %s must name one of the GPU types: %s"
                .formatted(text, types.isEmpty() ? "there are none" : String.join(", ", types)));
      }
      type = types.getFirst();
    }
    return new Supposition.Nodes(count, type);
  }

  private static Supposition quota(String text) {
    int equals = text.lastIndexOf('=');
    String number = text.substring(equals + 1);
    if (equals < 1 || !NUMBER.matcher(number).matches() || number.startsWith("-")) {
      throw usage(
          "--queue %s must be a queue, = and a number of GPUs, such as research=8".formatted(text));
    }
    return new Supposition.QueueQuota(text.substring(0, equals), Integer.parseInt(number));
  }

  private static Supposition priority(String text, String namespace) {
    int equals = text.lastIndexOf('=');
    String number = text.substring(equals + 1);
    if (equals < 1 || !NUMBER.matcher(number).matches()) {
      throw usage("--priority %s must be a job, = and a number, such as bert=10".formatted(text));
    }
    String job = text.substring(0, equals);
    int slash = job.indexOf('/');
    JobId id =
        slash < 0
            ? new JobId(namespace, job)
            : new JobId(job.substring(0, slash), job.substring(slash + 1));
    return new Supposition.Priority(id, Integer.parseInt(number));
  }

  private static CliException usage(String message) {
    return new CliException(ExitCode.USAGE, message);
  }
}
