package dev.kastor.local;

import java.time.Duration;

/**
 * What a local cluster is like.
 *
 * @param slots replicas that the machine holds
 * @param policy scheduling policy
 * @param webPort port of the web page; another free one is taken when it is in use
 * @param roundInterval time between scheduling rounds
 */
public record LocalOptions(int slots, String policy, int webPort, Duration roundInterval) {
  /** The node's name. */
  public static final String NODE = "local";

  public LocalOptions {
    if (slots < 1) {
      throw new IllegalArgumentException("slots must be at least 1 but is " + slots);
    }
  }
}
