package dev.kastor.cli.history;

import dev.kastor.cli.connect.Cluster;
import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.connect.OperatorPods;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.terminal.Output;
import dev.kastor.cli.terminal.Paper;
import dev.kastor.cli.terminal.Table;
import dev.kastor.cli.view.EventView;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Events of jobs, their pods and the operator. */
final class Events {
  private final ClusterOptions options;
  private final PrintWriter out;

  Events(ClusterOptions options, PrintWriter out) {
    this.options = options;
    this.out = out;
  }

  void run(@Nullable String job, boolean all, boolean watch, Output output)
      throws InterruptedException {
    if (job != null && all) {
      throw new CliException(
          ExitCode.USAGE, "JOB and --all-namespaces exclude each other. Use -n for one namespace");
    }
    try (Cluster cluster = Cluster.connect(options)) {
      if (job != null) {
        cluster.get(options.namespace(), job);
      }
      List<Pod> operator = job == null ? OperatorPods.of(cluster) : List.of();
      Predicate<EventView> wanted = wanted(job, operator);
      List<EventView> events = past(cluster, all, operator).filter(wanted).toList();
      print(events, output, watch);
      if (watch) {
        follow(cluster, all, operator, wanted, events, output);
      }
    }
  }

  private Stream<EventView> past(Cluster cluster, boolean all, List<Pod> operator) {
    String namespace = all ? null : options.namespace();
    Stream<EventView> events = cluster.events(namespace).stream();
    for (String other : otherNamespaces(namespace, operator)) {
      events = Stream.concat(events, OperatorPods.events(cluster, other).stream());
    }
    return events.sorted(Comparator.comparing(EventView::at));
  }

  private static Set<String> otherNamespaces(@Nullable String namespace, List<Pod> operator) {
    Set<String> namespaces = new HashSet<>();
    operator.forEach(pod -> namespaces.add(pod.getMetadata().getNamespace()));
    if (namespace == null) {
      namespaces.clear();
    } else {
      namespaces.remove(namespace);
    }
    return namespaces;
  }

  private static Predicate<EventView> wanted(@Nullable String job, List<Pod> operator) {
    if (job != null) {
      return event -> event.concerns(job);
    }
    return event ->
        event.kind().equals("TrainingJob")
            || "kastor".equals(event.source())
            || (event.kind().equals("Pod") && looksLikeReplica(event))
            || OperatorPods.concerns(event, operator);
  }

  /** Pods of a job are called after it with a number; they may be gone, labels and all. */
  private static boolean looksLikeReplica(EventView event) {
    return event.object().matches(".+-\\d+");
  }

  private void print(List<EventView> events, Output output, boolean first) {
    switch (output) {
      case JSON, YAML -> {
        if (first) {
          events.forEach(event -> Output.line(event, out));
        } else {
          output.print(Map.of("events", events), out);
        }
      }
      case NAME ->
          events.forEach(
              e -> out.println(e.kind().toLowerCase(java.util.Locale.ROOT) + "/" + e.object()));
      case TABLE, WIDE -> {
        if (events.isEmpty()) {
          out.println("no events; Kubernetes forgets them after an hour unless told otherwise");
        } else {
          table(events, output == Output.WIDE, Instant.now(), Paper.width()).forEach(out::println);
        }
      }
    }
    out.flush();
  }

  static List<String> table(List<EventView> events, boolean wide, Instant now, int paper) {
    List<String> header = new ArrayList<>(EventView.HEADER);
    if (wide) {
      header.addAll(0, List.of("TIME", "NAMESPACE", "SOURCE"));
    }
    Table table =
        new Table(header.toArray(String[]::new)).optional(wide ? new int[] {} : new int[] {1});
    for (EventView event : events) {
      List<String> cells = new ArrayList<>();
      if (wide) {
        cells.add(event.time() == null ? "-" : event.time());
        cells.add(event.namespace());
        cells.add(event.source() == null ? "-" : event.source());
      }
      cells.addAll(event.cells(now));
      table.row(cells);
    }
    return table.lines(wide ? Paper.ENDLESS : paper);
  }

  private void follow(
      Cluster cluster,
      boolean all,
      List<Pod> operator,
      Predicate<EventView> wanted,
      List<EventView> printed,
      Output output)
      throws InterruptedException {
    // Informers list first: what was printed already, they bring again.
    Set<EventView> known = new HashSet<>(printed);
    ResourceEventHandler<Event> handler =
        new ResourceEventHandler<>() {
          @Override
          public void onAdd(Event event) {
            EventView view = EventView.of(event);
            synchronized (known) {
              if (wanted.test(view) && known.add(view)) {
                next(view, output);
              }
            }
          }

          @Override
          public void onUpdate(Event before, Event after) {
            onAdd(after);
          }

          @Override
          public void onDelete(Event event, boolean unknown) {}
        };
    List<SharedIndexInformer<Event>> informers = new ArrayList<>();
    String namespace = all ? null : options.namespace();
    var events = cluster.client().v1().events();
    informers.add(
        namespace == null
            ? events.inAnyNamespace().inform(handler)
            : events.inNamespace(namespace).inform(handler));
    for (String other : otherNamespaces(namespace, operator)) {
      informers.add(events.inNamespace(other).inform(handler));
    }
    try {
      new CountDownLatch(1).await();
    } finally {
      informers.forEach(SharedIndexInformer::close);
    }
  }

  private void next(EventView event, Output output) {
    switch (output) {
      case JSON, YAML -> Output.line(event, out);
      case NAME ->
          out.println(event.kind().toLowerCase(java.util.Locale.ROOT) + "/" + event.object());
      case TABLE, WIDE ->
          out.println(
              "%s  %s"
                  .formatted(
                      event.time() == null ? "-" : event.time(),
                      String.join(
                          "  ", event.cells(Instant.now()).subList(1, EventView.HEADER.size()))));
    }
    out.flush();
  }
}
