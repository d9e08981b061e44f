package dev.kastor.agent.trainer;

import dev.kastor.agent.ring.RingBrokenException;
import dev.kastor.protocol.Member;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.ParameterServer;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/** Listeners of the processes of a generation. */
final class Addresses {
  private Addresses() {}

  /** Those of the members in rank order. */
  static List<InetSocketAddress> members(Membership membership) throws RingBrokenException {
    List<InetSocketAddress> addresses = new ArrayList<>();
    for (Member member : membership.members()) {
      addresses.add(address("member", member.pod(), member.address()));
    }
    return addresses;
  }

  /** Those of the parameter servers by index. */
  static List<InetSocketAddress> servers(Membership membership) throws RingBrokenException {
    List<InetSocketAddress> addresses = new ArrayList<>();
    for (ParameterServer server : membership.serversOrNone()) {
      addresses.add(address("server", server.pod(), server.address()));
    }
    return addresses;
  }

  private static InetSocketAddress address(String kind, String pod, String address)
      throws RingBrokenException {
    int colon = address.lastIndexOf(':');
    try {
      String host = address.substring(0, colon);
      return new InetSocketAddress(host, Integer.parseInt(address.substring(colon + 1)));
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      throw new RingBrokenException(
          "%s %s has no usable address: %s".formatted(kind, pod, address), e);
    }
  }
}
