package dev.kastor.cli.queue;

import dev.kastor.cli.connect.Cluster;
import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.queue.QueueCommand.WhenSpent;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.crds.queue.Queue;
import dev.kastor.crds.queue.QueueSpec.OnExceeded;
import dev.kastor.crds.queue.QueueSpec.StopPolicyKind;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Changes of queues, and of the queue of a job. */
final class QueueChanges {
  private final ClusterOptions options;
  private final PrintWriter out;

  QueueChanges(ClusterOptions options, PrintWriter out) {
    this.options = options;
    this.out = out;
  }

  /** Creates the queue with what is given, or changes that of the one that is there. */
  void set(String name, QueueCommand.Changed changed) {
    Map<String, @Nullable Object> spec = new LinkedHashMap<>();
    put(spec, "quota", changed.gpus == null ? null : Map.of("gpus", changed.gpus));
    put(spec, "cohort", changed.cohort);
    put(spec, "weight", changed.weight);
    put(spec, "maxPriority", changed.maxPriority);
    if (changed.budget != null) {
      spec.put("budget", budget(changed.budget, changed.whenSpent));
    }
    try (Cluster cluster = Cluster.connect(options)) {
      boolean there = exists(cluster, name);
      if (there && spec.isEmpty()) {
        throw new CliException(
            ExitCode.USAGE,
            "queue %s is there already; say what to change, such as --gpus N".formatted(name));
      }
      if (there) {
        patch(cluster, name, spec);
      } else {
        GenericKubernetesResource made = new GenericKubernetesResource();
        made.setApiVersion(new Queue().getApiVersion());
        made.setKind("Queue");
        made.setMetadata(new ObjectMetaBuilder().withName(name).build());
        made.setAdditionalProperties(Map.of("spec", spec));
        cluster.call(() -> {
          cluster.apply(made, false);
          return made;
        });
      }
      say("queue %s %s".formatted(name, there ? "changed" : "created"));
    }
  }

  private static @Nullable Map<String, Object> budget(
      BudgetOption budget, @Nullable WhenSpent whenSpent) {
    return budget.gpuHours() == null
        ? null
        : Map.of(
            "gpuHours",
            budget.gpuHours(),
            "period",
            budget.period().name(),
            "onExceeded",
            (whenSpent == WhenSpent.LOWER ? OnExceeded.LowerPriority : OnExceeded.Stop).name());
  }

  private static void put(
      Map<String, @Nullable Object> spec, String field, @Nullable Object value) {
    if (value != null) {
      spec.put(field, value);
    }
  }

  /** Says whether jobs of the queue start and run. */
  void stop(String name, StopPolicyKind policy) {
    try (Cluster cluster = Cluster.connect(options)) {
      there(cluster, name);
      patch(cluster, name, Map.of("stopPolicy", policy.name()));
      say(
          "queue %s %s"
              .formatted(
                  name,
                  switch (policy) {
                    case None -> "lets its jobs start";
                    case Hold -> "lets no job start; those that run go on";
                    case HoldAndDrain -> "lets no job start, and those that run stop";
                  }));
    }
  }

  /** Removes the queue. */
  void remove(String name) {
    try (Cluster cluster = Cluster.connect(options)) {
      there(cluster, name);
      List<?> removed = cluster.call(() -> queue(cluster, name).delete());
      say("queue %s %s".formatted(name, removed.isEmpty() ? "was gone already" : "removed"));
    }
  }

  /** Moves a job. */
  void move(String job, String name) {
    try (Cluster cluster = Cluster.connect(options)) {
      cluster.get(options.namespace(), job);
      cluster.patch(options.namespace(), job, spec(Map.of("queue", name)));
      say("%s is a job of queue %s".formatted(job, name));
      if (!exists(cluster, name)) {
        say("  there is no Queue of that name: the job waits for it, unless kastor.queues has it");
      }
    }
  }

  private static Resource<Queue> queue(Cluster cluster, String name) {
    return cluster.client().resources(Queue.class).withName(name);
  }

  private static boolean exists(Cluster cluster, String name) {
    return cluster.call(() -> queue(cluster, name).get() != null);
  }

  private static void there(Cluster cluster, String name) {
    if (!exists(cluster, name)) {
      throw new CliException(
          ExitCode.NOT_FOUND,
          "there is no queue %s. See what there is with: kastor queue; create it with: kastor queue set %s"
              .formatted(name, name));
    }
  }

  private static void patch(
      Cluster cluster, String name, Map<String, ? extends @Nullable Object> fields) {
    cluster.call(
        () -> queue(cluster, name).patch(PatchContext.of(PatchType.JSON_MERGE), spec(fields)));
  }

  private static String spec(Map<String, ? extends @Nullable Object> fields) {
    return Serialization.asJson(Map.of("spec", fields));
  }

  private void say(String text) {
    out.println(text);
    out.flush();
  }
}
