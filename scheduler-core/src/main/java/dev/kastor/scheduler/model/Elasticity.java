package dev.kastor.scheduler.model;

/** What the scheduler may change about a job. */
public sealed interface Elasticity {
  /** Fewest replicas the job runs with. */
  int min();

  /** Most replicas the job runs with. */
  int max();

  /** Which counts between them are possible. */
  AllowedReplicas allowed();

  /** Whether a running job may have this many replicas. */
  default boolean allows(int replicas) {
    return replicas >= min() && replicas <= max() && allowed().contains(replicas);
  }

  /** The same with at most so many replicas, at least one: its minimum is lowered where it must. */
  default Elasticity atMost(int most) {
    if (most >= max()) {
      return this;
    }
    int least = Math.min(min(), most);
    return switch (this) {
      case Rigid rigid -> new Rigid(most);
      case Elastic elastic -> new Elastic(least, most, allowed());
      case Restarting restarting -> new Restarting(least, most, allowed());
      case Adaptive adaptive -> new Adaptive(least, most, allowed());
    };
  }

  /** A fixed gang. */
  record Rigid(int replicas) implements Elasticity {
    public Rigid {
      Bounds.check(replicas, replicas);
    }

    @Override
    public int min() {
      return replicas;
    }

    @Override
    public int max() {
      return replicas;
    }

    @Override
    public AllowedReplicas allowed() {
      return new AllowedReplicas.Any();
    }
  }

  /** Replicas may change, the global batch may not. */
  record Elastic(int min, int max, AllowedReplicas allowed) implements Elasticity {
    public Elastic {
      Bounds.check(min, max);
    }
  }

  /**
   * Replicas may change by a restart of all of them, the global batch may not: nothing runs on
   * while the size changes.
   */
  record Restarting(int min, int max, AllowedReplicas allowed) implements Elasticity {
    public Restarting {
      Bounds.check(min, max);
    }
  }

  /** Replicas and batch may change: the job is sized by its goodput. */
  record Adaptive(int min, int max, AllowedReplicas allowed) implements Elasticity {
    public Adaptive {
      Bounds.check(min, max);
    }
  }

  /** The rule all kinds share. */
  final class Bounds {
    private Bounds() {}

    private static void check(int min, int max) {
      if (min < 1 || max < min) {
        throw new IllegalArgumentException(
            "minReplicas (%d) must be at least 1 and at most maxReplicas (%d)".formatted(min, max));
      }
    }
  }
}
