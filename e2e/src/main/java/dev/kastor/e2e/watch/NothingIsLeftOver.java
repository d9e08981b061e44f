package dev.kastor.e2e.watch;

import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** No pod outlives its job for long, and no process its pod. */
final class NothingIsLeftOver implements Rule {
  private final Duration patience;
  private final Map<String, Instant> since = new HashMap<>();

  /**
   * A rule for a cluster in which things are cleaned up within some time.
   *
   * @param patience longer than a fault may keep a node from cleaning up
   */
  NothingIsLeftOver(Duration patience) {
    this.patience = patience;
  }

  @Override
  public List<Finding> broken(World world) {
    Map<String, String> left = new HashMap<>();
    for (Pod pod : world.jobPods()) {
      if (!Pods.ended(pod) && !world.jobs().containsKey(Pods.owner(pod).orElseThrow())) {
        left.put("pod " + Pods.name(pod), "its job is gone");
      }
    }
    Set<String> pods = world.pods().values().stream().map(Pods::name).collect(Collectors.toSet());
    for (AgentProcess process : world.processes()) {
      if (!pods.contains(process.pod())) {
        left.put(
            "process " + process.pid(),
            "its pod %s is gone; it is on %s".formatted(process.pod(), process.node()));
      }
    }
    since.keySet().retainAll(new HashSet<>(left.keySet()));
    List<Finding> findings = new ArrayList<>();
    left.forEach((what, why) -> {
      Instant begun = since.computeIfAbsent(what, key -> world.now());
      if (begun.plus(patience).isBefore(world.now())) {
        findings.add(
            new Finding("nothing is left over", what, "%s since %s".formatted(why, begun)));
      }
    });
    return findings;
  }
}
