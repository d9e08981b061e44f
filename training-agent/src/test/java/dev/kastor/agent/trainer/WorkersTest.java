package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.agent.ring.Crew;
import dev.kastor.agent.ring.PeerLink;
import dev.kastor.agent.ring.RingListener;
import dev.kastor.agent.servers.Message;
import dev.kastor.agent.servers.Wire;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("slow")
class WorkersTest {
  private static PeerLink.Place place(RingListener listener, PeerLink.End self) {
    return new PeerLink.Place(listener, 7, self, Crew.LIMITS, () -> false);
  }

  @Test
  void aWorkerIsServedAgainAfterAnUnexpectedFailure() throws Exception {
    PeerLink.End server = new PeerLink.End(true, 0);
    AtomicInteger served = new AtomicInteger();
    try (RingListener listener = Crew.listen();
        RingListener worker = Crew.listen();
        Workers _ =
            Workers.open(
                "job",
                place(listener, server),
                List.of(Crew.address(worker)),
                (_, wire) -> {
                  if (served.getAndIncrement() == 0) {
                    throw new IllegalStateException("a defect, on purpose");
                  }
                  wire.send(new Message.Answer(true));
                })) {
      PeerLink.Place own = place(worker, new PeerLink.End(false, 0));
      try (Wire first = new Wire(PeerLink.connect(own, server, Crew.address(listener)))) {
        while (served.get() == 0) {
          Thread.sleep(1);
        }
        assertThat(first).isNotNull();
      }
      try (Wire again = new Wire(PeerLink.connect(own, server, Crew.address(listener)))) {
        assertThat(again.receive()).isEqualTo(new Message.Answer(true));
      }
    }
  }
}
