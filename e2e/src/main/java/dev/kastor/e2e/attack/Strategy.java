package dev.kastor.e2e.attack;

import java.time.Duration;

/**
 * Way to get GPUs, data or trouble with the rights of a tenant.
 *
 * @param name what is done, for people
 * @param aim what it is after
 * @param patience how much longer it may keep GPUs than others, as documented
 * @param strike how it is done; what it makes in the tenant's namespace is removed by the caller,
 *     and what else it begins ends with {@link Hostile#open}
 */
record Strategy(String name, Aim aim, Duration patience, Strike strike) {
  /** One that may keep GPUs no longer than others. */
  Strategy(String name, Aim aim, Strike strike) {
    this(name, aim, Duration.ZERO, strike);
  }

  /** Object of an attack, which decides what the honest tenant does meanwhile. */
  enum Aim {
    /** GPUs: the honest tenant claims what he lent, and what his priority is good for. */
    GPUS,
    /** GPUs, by what may rightly come before the honest tenant's priority; his quota stays his. */
    RANK,
    /** What others may read or write: the honest tenant's jobs run on. */
    ACCESS,
    /** The operator's memory, log and time: the honest tenant's jobs run on. */
    OPERATOR
  }

  /** Deed of the hostile tenant. */
  @FunctionalInterface
  interface Strike {
    /** Does it, and returns as soon as it is at work. */
    void by(Hostile hostile) throws Exception;
  }

  /** Whether the honest tenant claims GPUs meanwhile. */
  boolean forGpus() {
    return aim == Aim.GPUS || aim == Aim.RANK;
  }

  @Override
  public String toString() {
    return name;
  }
}
