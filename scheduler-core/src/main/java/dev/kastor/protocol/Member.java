package dev.kastor.protocol;

import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * One replica of a generation.
 *
 * @param pod its pod's name
 * @param rank its place in the ring, from 0
 * @param address {@code host:port} of its ring listener
 * @param node the node it runs on
 * @param gpuType GPU type of that node; empty where it has none
 */
public record Member(String pod, int rank, String address, String node, String gpuType) {
  /** A member on a node of no GPU type. */
  public Member(String pod, int rank, String address, String node) {
    this(pod, rank, address, node, "");
  }

  public Member {
    Check.atLeast("rank", rank, 0);
    // An operator of an earlier version does not send it.
    gpuType = Objects.requireNonNullElse(gpuType, "");
  }

  /**
   * GPU type under which measurements of these members are filed: the one that all have; names of
   * different ones joined by {@code +}, so that no curve mixes types.
   */
  public static String gpuType(List<Member> members) {
    return members.stream()
        .map(Member::gpuType)
        .filter(type -> !type.isEmpty())
        .distinct()
        .sorted()
        .collect(Collectors.joining("+"));
  }
}
