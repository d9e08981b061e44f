package dev.kastor.scheduler.model;

import java.util.List;

/** Which replica counts between the bounds a job can run with. */
public sealed interface AllowedReplicas {
  /** Whether the count is one of those. */
  boolean contains(int replicas);

  /** Every count. */
  record Any() implements AllowedReplicas {
    @Override
    public boolean contains(int replicas) {
      return replicas > 0;
    }
  }

  /** 1, 2, 4, 8 and so on. */
  record PowersOfTwo() implements AllowedReplicas {
    @Override
    public boolean contains(int replicas) {
      return Integer.bitCount(replicas) == 1;
    }
  }

  /** Exactly the listed counts. */
  record Listed(List<Integer> counts) implements AllowedReplicas {
    public Listed {
      counts = List.copyOf(counts);
    }

    @Override
    public boolean contains(int replicas) {
      return counts.contains(replicas);
    }
  }
}
