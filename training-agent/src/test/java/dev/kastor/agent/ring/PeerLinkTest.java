package dev.kastor.agent.ring;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.channels.SocketChannel;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("slow")
class PeerLinkTest {
  private static final PeerLink.End SERVER = new PeerLink.End(true, 0);
  private static final PeerLink.End WORKER = new PeerLink.End(false, 0);

  private static PeerLink.Place place(RingListener listener, PeerLink.End self) {
    return new PeerLink.Place(listener, 7, self, Crew.LIMITS, () -> false);
  }

  /** As a server leaves one that took a connection which the worker had given up. */
  @Test
  void aConnectionOfAnEarlierAttemptIsNotTaken() throws Exception {
    try (Crew crew = new Crew();
        RingListener server = Crew.listen();
        RingListener worker = Crew.listen()) {
      try (SocketChannel stale = SocketChannel.open(Crew.address(worker))) {
        Handshake.connect(
            stale, Crew.KEY, new Hello.Key(Hello.Purpose.SERVER, 7, 0, 0), Crew.LIMITS.handshake());
      }
      List<byte[]> got =
          crew.together(
              2,
              rank -> {
                if (rank == 0) {
                  try (PeerLink link =
                      PeerLink.accept(
                          place(server, SERVER),
                          WORKER,
                          Crew.address(worker),
                          Crew.LIMITS.connect())) {
                    link.send(link.receive());
                    return link.receive();
                  }
                }
                try (PeerLink link =
                    PeerLink.connect(place(worker, WORKER), SERVER, Crew.address(server))) {
                  link.send(new byte[] {5});
                  byte[] back = link.receive();
                  link.send(new byte[] {6});
                  return back;
                }
              });
      assertThat(got).containsExactly(new byte[] {6}, new byte[] {5});
    }
  }
}
