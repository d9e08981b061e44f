package dev.kastor.operator.web;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.history.JobHistory;
import dev.kastor.operator.kube.SlotCount;
import dev.kastor.operator.mapping.JobMapper;
import dev.kastor.operator.nodes.SlowNodes;
import dev.kastor.operator.queue.QueueBudgets;
import dev.kastor.operator.queue.QueueDirectory;
import dev.kastor.operator.scheduling.StandingAdvice;
import dev.kastor.operator.web.Overview.AdviceRow;
import dev.kastor.operator.web.Overview.ClusterRow;
import dev.kastor.operator.web.Overview.JobRow;
import dev.kastor.operator.web.Overview.NodeRow;
import dev.kastor.scheduler.advice.NodeAdvice;
import dev.kastor.scheduler.model.Queue;
import io.fabric8.kubernetes.api.model.Node;
import jakarta.inject.Singleton;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Puts the overview together from caches only, so it costs the API server nothing. */
@Singleton
final class OverviewBuilder {
  private final ClusterView cluster;
  private final JobHistory history;
  private final OperatorConfig config;
  private final StandingAdvice advice;
  private final QueueBudgets budgets;
  private final SlowNodes slow;
  private final SlotCount slots;

  OverviewBuilder(
      ClusterView cluster,
      JobHistory history,
      OperatorConfig config,
      StandingAdvice advice,
      SlowNodes slow,
      QueueBudgets budgets) {
    this.slow = slow;
    this.budgets = budgets;
    this.cluster = cluster;
    this.advice = advice;
    this.history = history;
    this.config = config;
    this.slots = new SlotCount(config.slotResource());
  }

  Overview build() {
    List<TrainingJob> jobs = cluster.jobs();
    Map<String, Integer> used = slotsUsed(jobs);
    Map<String, Double> slowdowns = slow.slow();
    List<NodeRow> nodes =
        cluster.nodes().stream()
            .map(node -> node(node, used, slowdowns))
            .filter(node -> node.slotsTotal() > 0 || node.slotsUsed() > 0)
            .sorted(Comparator.comparing(NodeRow::name))
            .toList();
    return new Overview(
        new ClusterRow(
            config.policy(),
            used.values().stream().mapToInt(Integer::intValue).sum(),
            nodes.stream().mapToInt(NodeRow::slotsTotal).sum(),
            nodes,
            advice.current().stream().map(OverviewBuilder::advice).toList()),
        inOrder(jobs.stream().map(job -> JobRows.of(job, history))));
  }

  /** The queues with what they hold and deserve. */
  List<QueueRow> queues() {
    int total =
        cluster.nodes().stream()
            .filter(node -> node.getStatus() != null && SlotCount.usable(node))
            .mapToInt(slots::allocatable)
            .sum();
    QueueDirectory directory =
        QueueDirectory.of(
            cluster.queues(),
            Queue.parse(config.queues().orElse("")),
            config.maxPriority(),
            budgets.of(cluster.queues()));
    return QueueRow.of(cluster.jobs(), directory, total);
  }

  /** The queues that a job names which a viewer may list; with what all hold of them. */
  List<QueueRow> queues(Viewer viewer) {
    if (viewer.seesAll()) {
      return queues();
    }
    Set<String> named =
        cluster.jobs().stream()
            .filter(job -> viewer.lists(job.getMetadata().getNamespace()))
            .map(job -> Objects.requireNonNullElse(job.getSpec().queue(), ""))
            .collect(Collectors.toSet());
    return queues().stream().filter(row -> named.contains(row.name())).toList();
  }

  private static AdviceRow advice(NodeAdvice advice) {
    return new AdviceRow(
        advice.gpuType(),
        advice.nodes(),
        advice.advised(),
        advice.utility(),
        advice.expectedUtility(),
        advice.reason().code(),
        advice.reason().message(),
        advice.reason().numbers());
  }

  private static Map<String, Integer> slotsUsed(List<TrainingJob> jobs) {
    Map<String, Integer> used = new HashMap<>();
    for (TrainingJob job : jobs) {
      TrainingJobStatus status = job.getStatus();
      if (status != null && status.allocation() != null && !JobRows.isOver(status.phase())) {
        JobMapper.allocation(status.allocation())
            .slotsByNode()
            .forEach((node, n) -> used.merge(node, n, Integer::sum));
      }
    }
    return used;
  }

  private NodeRow node(Node node, Map<String, Integer> used, Map<String, Double> slowdowns) {
    Map<String, String> labels = node.getMetadata().getLabels();
    String name = node.getMetadata().getName();
    boolean usable = node.getStatus() != null && SlotCount.usable(node);
    return new NodeRow(
        name,
        labels == null ? null : labels.get(config.gpuTypeLabel()),
        used.getOrDefault(name, 0),
        usable ? slots.allocatable(node) : 0,
        slowdowns.get(name));
  }

  private static List<JobRow> inOrder(Stream<JobRow> rows) {
    Comparator<String> newestFirst = Comparator.reverseOrder();
    return rows.sorted(
            Comparator.comparing((JobRow row) -> JobRows.isOver(row.phase()))
                .thenComparing(JobRow::ended, Comparator.nullsFirst(newestFirst))
                .thenComparing(JobRow::submitted, Comparator.nullsFirst(Comparator.naturalOrder()))
                .thenComparing(JobRow::namespace)
                .thenComparing(JobRow::name))
        .toList();
  }
}
