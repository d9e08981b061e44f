package dev.kastor.agent;

import dev.kastor.agent.nccl.NcclSums;
import dev.kastor.agent.ring.RingLimits;
import dev.kastor.agent.ring.Sums;
import dev.kastor.engine.program.SumsParameter;

/** What sums gradients over the replicas, as their parameter says. */
final class GradientSums {
  private GradientSums() {}

  /** What makes them. */
  static Sums.Maker maker(SumsParameter sums) {
    return switch (sums) {
      case RING -> Sums.Maker.RING;
      case NCCL -> NcclSums.load(RingLimits.DEFAULT.silence());
    };
  }
}
