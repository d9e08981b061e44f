package dev.kastor.agent.trainer;

import dev.kastor.agent.ring.PeerLink;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.Outcome;
import java.io.IOException;
import java.util.Optional;

/** Part of a parameter server in generations: that of server 0, or that of the others. */
interface ServerRole extends AutoCloseable {
  /** Asks for a checkpoint soon; from any thread. */
  void saveSoon();

  /**
   * Takes part in a generation until it is over.
   *
   * @return the outcome if training is over, too
   * @throws dev.kastor.agent.ring.RingBrokenException if another server is lost
   */
  Optional<Outcome> serve(Membership membership, PeerLink.Place place)
      throws IOException, InterruptedException;

  /** Told to stop while in no generation. */
  Outcome stopAlone() throws IOException;

  @Override
  void close();
}
