package dev.kastor.protocol;

/**
 * One replica of a generation.
 *
 * @param pod its pod's name
 * @param rank its place in the ring, from 0
 * @param address {@code host:port} of its ring listener
 * @param node the node it runs on
 */
public record Member(String pod, int rank, String address, String node) {
  public Member {
    Check.atLeast("rank", rank, 0);
  }
}
