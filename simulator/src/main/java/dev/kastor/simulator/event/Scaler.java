package dev.kastor.simulator.event;

import dev.kastor.scheduler.advice.NodeAdvice;
import dev.kastor.scheduler.advice.NodeAdvisor;
import dev.kastor.scheduler.advice.NodeType;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.simulator.replay.ClusterShape;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.function.ToIntFunction;

/**
 * Turns advice on the cluster's size into orders; while one is on its way it asks for no further
 * advice. Owned by one simulation.
 */
final class Scaler {
  /** Time between two looks: Pollux' round. */
  static final Duration INTERVAL = Duration.ofSeconds(60);

  private final Autoscaling settings;
  private final NodeAdvisor advisor;
  private int onTheWay;

  Scaler(Autoscaling settings, ClusterShape cluster) {
    this.settings = settings;
    advisor = new NodeAdvisor(settings.rules(), INTERVAL, types(cluster));
  }

  /** What a further node of each GPU type would be like: like the last group of its type. */
  private static List<NodeType> types(ClusterShape cluster) {
    SequencedMap<String, NodeType> types = new LinkedHashMap<>();
    for (ClusterShape.Group group : cluster.groups()) {
      types.put(
          group.gpuType(),
          new NodeType(group.gpuType(), group.gpusPerNode(), group.pricePerHour()));
    }
    return List.copyOf(types.values());
  }

  boolean waits() {
    return onTheWay > 0;
  }

  /**
   * Looks at the cluster.
   *
   * @param present nodes of a GPU type, those that failed included
   * @return what to change and when; {@link #arrived} is to be called for each when it happens
   */
  List<Resize> orders(Snapshot snapshot, ToIntFunction<String> present) {
    List<Resize> orders = new ArrayList<>();
    Duration now = Duration.ofMillis(snapshot.now().toEpochMilli());
    for (NodeAdvice advice : advisor.observe(snapshot)) {
      int there = present.applyAsInt(advice.gpuType());
      if (advice.advised() != there) {
        Duration at = advice.advised() > there ? now.plus(settings.delay()) : now;
        orders.add(new Resize(at, advice.gpuType(), advice.advised()));
      }
    }
    onTheWay += orders.size();
    return orders;
  }

  void arrived() {
    onTheWay--;
  }
}
