package dev.kastor.agent;

import dev.kastor.agent.nccl.NcclSums;
import dev.kastor.agent.ring.RingLimits;
import dev.kastor.agent.ring.Sums;
import java.util.Map;

/** What sums gradients over the replicas: the parameter {@value #PARAMETER} of every program. */
enum GradientSums {
  /** Their ring's connections. */
  RING,
  /** NVIDIA's NCCL, if all of them have it. */
  NCCL;

  private static final String PARAMETER = "sums";

  /**
   * Takes the parameter out of those that are given to a program, which does not know it.
   *
   * @throws PermanentException if it has no such value
   */
  static GradientSums take(Map<String, String> parameters) throws PermanentException {
    String text = parameters.remove(PARAMETER);
    return switch (text == null ? "ring" : text.strip()) {
      case "ring" -> RING;
      case "nccl" -> NCCL;
      default ->
          throw new PermanentException(
              "Parameter '%s' must be ring or nccl but is '%s'.".formatted(PARAMETER, text));
    };
  }

  /** What makes them. */
  Sums.Maker maker() {
    return switch (this) {
      case RING -> Sums.Maker.RING;
      case NCCL -> NcclSums.load(RingLimits.DEFAULT.silence());
    };
  }
}
