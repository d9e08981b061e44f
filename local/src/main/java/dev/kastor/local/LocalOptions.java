package dev.kastor.local;

import dev.kastor.local.kubelet.PodVariables;
import java.nio.file.Path;
import java.time.Duration;

/**
 * What a local cluster is like.
 *
 * @param slots replicas that the machine holds
 * @param devices GPUs or cores that compute for these; replicas beyond them share
 * @param policy scheduling policy with its options, such as {@code kastor:hold=1000}
 * @param plugins folder with jars of policies and programs; it need not exist
 * @param webPort port of the web page; another free one is taken when it is in use
 * @param roundInterval time between scheduling rounds
 * @param variables that replicas are given beside those of their jobs
 * @param spares processes of a kind that wait for the replicas that they become; 0 for none
 */
public record LocalOptions(
    int slots,
    int devices,
    String policy,
    Path plugins,
    int webPort,
    Duration roundInterval,
    PodVariables variables,
    int spares) {
  /** The node's name. */
  public static final String NODE = "local";

  public LocalOptions {
    if (slots < 1) {
      throw new IllegalArgumentException("slots must be at least 1 but is " + slots);
    }
    if (devices < 1) {
      throw new IllegalArgumentException("devices must be at least 1 but is " + devices);
    }
    if (spares < 0) {
      throw new IllegalArgumentException("spares must be at least 0 but is " + spares);
    }
  }
}
