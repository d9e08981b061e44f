package dev.kastor.protocol;

/**
 * One process that keeps a shard of a job's parameters.
 *
 * @param index which shard, from 0
 * @param pod its pod's name
 * @param node the node it runs on
 * @param address {@code host:port} of its listener
 */
public record ParameterServer(int index, String pod, String node, String address) {
  public ParameterServer {
    Check.atLeast("index", index, 0);
  }
}
