package dev.kastor.e2e.scale;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * When each job was created, was first told why it waits or runs, and was first decided on, as one
 * who watches the API server sees it.
 *
 * <p>Thread-safe.
 */
final class JobsSeen implements AutoCloseable {
  /** Nanoseconds of {@link System#nanoTime}; 0 for what has not happened. */
  static final class Times {
    volatile long created;
    volatile long explained;
    volatile long decided;
    volatile long ended;
  }

  private final Map<String, Times> times = new ConcurrentHashMap<>();
  private final SharedIndexInformer<TrainingJob> informer;

  JobsSeen(KubernetesClient client) {
    informer =
        client
            .resources(TrainingJob.class)
            .inAnyNamespace()
            .inform(
                new ResourceEventHandler<>() {
                  @Override
                  public void onAdd(TrainingJob job) {
                    look(job);
                  }

                  @Override
                  public void onUpdate(TrainingJob before, TrainingJob after) {
                    look(after);
                  }

                  @Override
                  public void onDelete(TrainingJob job, boolean unknown) {
                    times.remove(name(job));
                  }
                });
  }

  /** The request to create the job was answered now. */
  void created(String name) {
    of(name).created = System.nanoTime();
  }

  Times of(String name) {
    return times.computeIfAbsent(name, key -> new Times());
  }

  /** All jobs as they are now. */
  List<TrainingJob> jobs() {
    return informer.getStore().list();
  }

  Map<TrainingJobStatus.Phase, Integer> phases() {
    Map<TrainingJobStatus.Phase, Integer> phases = new EnumMap<>(TrainingJobStatus.Phase.class);
    for (TrainingJob job : jobs()) {
      TrainingJobStatus status = job.getStatus();
      if (status != null && status.phase() != null) {
        phases.merge(status.phase(), 1, Integer::sum);
      }
    }
    return phases;
  }

  int in(TrainingJobStatus.Phase phase) {
    return phases().getOrDefault(phase, 0);
  }

  long count(ToLongFunction<Times> moment) {
    return times.values().stream().filter(each -> moment.applyAsLong(each) != 0).count();
  }

  /** Seconds from the creation of each of these jobs to a moment, ascending. */
  double[] seconds(Collection<String> names, ToLongFunction<Times> moment) {
    return names.stream()
        .map(this::of)
        .mapToDouble(each -> Math.max(0, moment.applyAsLong(each) - each.created) / 1e9)
        .sorted()
        .toArray();
  }

  /** Such as the 0.99th of ascending numbers. */
  static double quantile(double[] ascending, double share) {
    return ascending[(int) Math.min(ascending.length - 1, Math.floor(share * ascending.length))];
  }

  static String spread(double[] ascending) {
    return "p50 %.2f s, p95 %.2f s, p99 %.2f s, longest %.2f s (%d)"
        .formatted(
            quantile(ascending, 0.5),
            quantile(ascending, 0.95),
            quantile(ascending, 0.99),
            Arrays.stream(ascending).max().orElse(0),
            ascending.length);
  }

  @Override
  public void close() {
    informer.stop();
  }

  private void look(TrainingJob job) {
    TrainingJobStatus status = job.getStatus();
    if (status == null) {
      return;
    }
    Times seen = of(name(job));
    long now = System.nanoTime();
    boolean explained =
        status.conditions() != null
            && status.conditions().stream()
                .anyMatch(condition ->
                    condition.getStatus().equals("True") && !condition.getReason().isEmpty());
    if (explained && seen.explained == 0) {
      seen.explained = now;
    }
    if (status.allocation() != null && seen.decided == 0) {
      seen.decided = now;
    }
    if (ended(status.phase()) && seen.ended == 0) {
      seen.ended = now;
    }
  }

  private static boolean ended(TrainingJobStatus.@Nullable Phase phase) {
    return phase == TrainingJobStatus.Phase.Succeeded || phase == TrainingJobStatus.Phase.Failed;
  }

  private static String name(TrainingJob job) {
    return job.getMetadata().getNamespace() + "/" + job.getMetadata().getName();
  }
}
