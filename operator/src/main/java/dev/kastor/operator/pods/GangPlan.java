package dev.kastor.operator.pods;

import dev.kastor.scheduler.model.Allocation;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.IntStream;

/** Step that is due next for the pods of a gang, all of which run or none. */
public sealed interface GangPlan {
  /**
   * Every pod of the newest start ended well.
   *
   * @param pods how many these are
   */
  record Succeeded(int pods) implements GangPlan {}

  /** All is as it should be. */
  record Keep() implements GangPlan {}

  /**
   * Pods have to go before anything else.
   *
   * @param pods those whose deletion was not asked for yet; may be empty while others still leave
   * @param why what broke the gang; empty if nothing did
   */
  record Clear(List<PodView> pods, Optional<Fault> why) implements GangPlan {}

  /**
   * Cause for which the pods of a start cannot go on together.
   *
   * @param decided whether the scheduler gave the gang another size or other nodes; else something
   *     befell a pod
   */
  record Fault(String message, boolean decided) {}

  /**
   * Pods have to be made.
   *
   * @param first number of the first pod of a start that was broken off; empty for a new start
   * @param ranks those that are missing
   */
  record Create(Optional<Long> first, List<Integer> ranks) implements GangPlan {}

  /** All pods are there, so these may be scheduled. */
  record Open(List<PodView> pods) implements GangPlan {}

  /** The plan for these pods, of all starts, with this target. */
  static GangPlan of(Allocation target, List<GangPod> pods) {
    long newest = pods.stream().mapToLong(GangPod::first).max().orElse(-1);
    List<GangPod> current = pods.stream().filter(pod -> pod.first() == newest).toList();
    int size = current.isEmpty() ? 0 : current.getFirst().size();
    boolean whole = ranks(current, size);
    if (whole && current.stream().allMatch(pod -> succeeded(pod))) {
      return new Succeeded(size);
    }
    Optional<Fault> fault = fault(target, current, size);
    List<PodView> going = new ArrayList<>(leftovers(pods, newest, fault.isPresent()));
    boolean occupied =
        pods.stream()
            .anyMatch(pod -> !pod.view().ended() && (pod.first() != newest || fault.isPresent()));
    if (!going.isEmpty() || occupied) {
      return new Clear(going, fault.filter(why -> !going.isEmpty()));
    }
    if (target.isEmpty()) {
      return new Keep();
    }
    if (current.isEmpty() || fault.isPresent()) {
      return new Create(Optional.empty(), IntStream.range(0, target.replicas()).boxed().toList());
    }
    if (!whole) {
      return new Create(Optional.of(newest), missing(current, size));
    }
    List<PodView> gated = current.stream().filter(GangPod::gated).map(GangPod::view).toList();
    return gated.isEmpty() ? new Keep() : new Open(gated);
  }

  /** Slots of the target, by node, that pods of the gang do not hold already. */
  static Map<String, Integer> missingSlots(Allocation target, List<GangPod> pods) {
    Map<String, Integer> missing = new TreeMap<>(target.replicasByNode());
    pods.stream()
        .map(GangPod::view)
        .filter(pod -> !pod.ended())
        .forEach(pod -> missing.computeIfPresent(pod.node(), (node, count) -> count - 1));
    missing.values().removeIf(count -> count <= 0);
    return missing;
  }

  /** The failures that count: that which came first in each start. */
  static Failures failures(List<GangPod> pods) {
    return Failures.of(List.copyOf(causes(pods).values()), Instant.EPOCH);
  }

  /** The pods of the newest start by rank; none unless all of them were made. */
  static List<GangPod> newestStart(List<GangPod> pods) {
    long newest = pods.stream().mapToLong(GangPod::first).max().orElse(-1);
    List<GangPod> current =
        pods.stream()
            .filter(pod -> pod.first() == newest)
            .sorted(Comparator.comparingInt(GangPod::rank))
            .toList();
    return !current.isEmpty() && ranks(current, current.getFirst().size()) ? current : List.of();
  }

  /** How many pods work together: all of the newest start or none; those that are done count. */
  static int training(List<GangPod> pods) {
    long newest = pods.stream().mapToLong(GangPod::first).max().orElse(-1);
    List<GangPod> current =
        pods.stream()
            .filter(pod -> pod.first() == newest)
            .filter(pod -> !pod.view().deleting())
            .filter(pod -> succeeded(pod) || pod.view().state() == PodView.State.RUNNING)
            .toList();
    return !current.isEmpty() && current.size() == current.getFirst().size() ? current.size() : 0;
  }

  /** Why these pods cannot go on together; empty if they can. */
  private static Optional<Fault> fault(Allocation target, List<GangPod> current, int size) {
    if (current.isEmpty()) {
      return Optional.empty();
    }
    Optional<PodView> failed =
        current.stream()
            .filter(pod -> failed(pod))
            .map(GangPod::view)
            .min(Comparator.comparing(PodView::finished).thenComparingLong(PodView::number));
    if (failed.isPresent()) {
      return befell(failed.get().failureMessage());
    }
    Map<String, Integer> nodes = new TreeMap<>();
    current.forEach(pod -> nodes.merge(pod.view().node(), 1, Integer::sum));
    boolean placed =
        target.replicas() == size
            && nodes.entrySet().stream()
                .allMatch(node ->
                    target.replicasByNode().getOrDefault(node.getKey(), 0) >= node.getValue());
    if (!placed) {
      return Optional.of(
          new Fault(
              "its place changed from %s to %s".formatted(nodes, target.replicasByNode()), true));
    }
    // After the place: pods that leave because it changed were not deleted by anybody else.
    Optional<PodView> leaving =
        current.stream().map(GangPod::view).filter(PodView::deleting).findFirst();
    if (leaving.isPresent()) {
      return befell("pod %s is being deleted".formatted(leaving.get().name()));
    }
    // From here on the size is the target's: who may write to a pod may have said any number.
    return ranks(current, size) || current.stream().allMatch(GangPod::gated)
        ? Optional.empty()
        : befell("pods of ranks %s are gone".formatted(missing(current, size)));
  }

  private static Optional<Fault> befell(String message) {
    return Optional.of(new Fault(message, false));
  }

  /** Pods of older starts and, if the newest is broken, of it; one failed pod a start stays. */
  private static List<PodView> leftovers(List<GangPod> pods, long newest, boolean broken) {
    Map<Long, PodView> causes = causes(pods);
    return pods.stream()
        .filter(pod -> pod.first() != newest || broken)
        .map(GangPod::view)
        .filter(pod -> !pod.deleting() && !causes.containsValue(pod))
        .toList();
  }

  private static Map<Long, PodView> causes(List<GangPod> pods) {
    Map<Long, PodView> causes = new TreeMap<>();
    pods.stream()
        .filter(pod -> failed(pod))
        .sorted(
            Comparator.comparing((GangPod pod) -> pod.view().finished())
                .thenComparingLong(pod -> pod.view().number()))
        .forEach(pod -> causes.putIfAbsent(pod.first(), pod.view()));
    return causes;
  }

  private static boolean succeeded(GangPod pod) {
    return pod.view().state() == PodView.State.SUCCEEDED && !pod.dismissed();
  }

  private static boolean failed(GangPod pod) {
    return pod.view().state() == PodView.State.FAILED && !pod.dismissed();
  }

  private static boolean ranks(List<GangPod> pods, int size) {
    return size > 0
        && pods.stream()
                .mapToInt(GangPod::rank)
                .filter(rank -> rank >= 0 && rank < size)
                .distinct()
                .count()
            == size;
  }

  private static List<Integer> missing(List<GangPod> pods, int size) {
    List<Integer> there = pods.stream().map(GangPod::rank).toList();
    return IntStream.range(0, size).filter(rank -> !there.contains(rank)).boxed().toList();
  }
}
