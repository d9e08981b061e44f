package dev.kastor.simulator.whatif;

import dev.kastor.scheduler.live.LiveCluster;
import dev.kastor.scheduler.policy.PolicyFactory;
import dev.kastor.scheduler.policy.replay.Replayer;
import dev.kastor.scheduler.whatif.Answer;
import dev.kastor.scheduler.whatif.Supposition;
import java.time.Duration;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;

/** Replayer that is the event-driven simulation. */
public final class EventReplayer implements Replayer {
  /** Made by a service loader. */
  public EventReplayer() {}

  @Override
  public Answer answer(
      LiveCluster cluster,
      List<Supposition> suppositions,
      BiFunction<String, Long, PolicyFactory> policies,
      Duration unknown,
      BooleanSupplier overdue) {
    return WhatIf.of(cluster, suppositions, policies, unknown, overdue).answer();
  }
}
