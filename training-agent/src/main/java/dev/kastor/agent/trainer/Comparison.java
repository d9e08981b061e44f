package dev.kastor.agent.trainer;

import dev.kastor.agent.ring.Ring;
import dev.kastor.engine.tensor.Layout;
import dev.kastor.training.Drift;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Comparison of the states that all members of a generation should have alike: when it is due, the
 * names of what differs, and whether that is repaired.
 *
 * <p>What is compared is the {@link Replica#state}, which holds nothing but what replicas share.
 * The error buffers of a codec and the parameters within a round of local steps, which differ from
 * replica to replica, are no part of it. One thread uses it.
 */
final class Comparison {
  private static final Logger log = LoggerFactory.getLogger(Comparison.class);

  /** Comparisons take one part of so many of the time, beside those of saved states. */
  private static final long PARTS = 200;

  private static final Duration SHORTEST = Duration.ofSeconds(1);

  /** Repairs in a row: after them something makes the states differ in each comparison. */
  private static final int MOST_REPAIRS = 4;

  private static final int MOST_NAMES = 5;

  private final String job;
  private final Drift drift;
  private final Layout layout;
  private long comparedStep = -1;
  private long comparedNanos;
  private long tookNanos;
  private boolean saved;
  private int differences;

  /**
   * A comparison of a replica that has compared nothing yet.
   *
   * @param drift what is done with differences
   * @param layout of the parameters
   */
  Comparison(String job, Drift drift, Layout layout) {
    this.job = job;
    this.drift = drift;
    this.layout = layout;
  }

  /** The state before the next step is saved. */
  void saved() {
    saved = true;
  }

  /**
   * Whether rank 0 asks for a comparison.
   *
   * @param step of the state
   * @param now nanoseconds of a clock that never goes back
   */
  boolean isDue(long step, long now) {
    long pause = Math.max(SHORTEST.toNanos(), Math.multiplyExact(tookNanos, PARTS));
    return step != comparedStep && (saved || now - comparedNanos >= pause);
  }

  /**
   * All members have the same state.
   *
   * @param step of it
   * @param now nanoseconds of the same clock
   */
  void compared(long step, long now) {
    comparedStep = step;
    comparedNanos = now;
    saved = false;
  }

  /** The digest took so long, in nanoseconds; to exchange it takes next to nothing. */
  void took(long nanos) {
    tookNanos = nanos;
  }

  /** Comparisons in a row up to the last one in which members differed. */
  int differences() {
    return differences;
  }

  /** Members had the same state, or those that differ need not have the same. */
  void agreed() {
    differences = 0;
  }

  /**
   * Members differ that should have the same state; all members of the ring come here.
   *
   * @param all headers of all members, in rank order
   * @throws DriftException if that is not to be repaired
   */
  void differ(Ring ring, Replica replica, List<JoinHeader> all) throws IOException {
    JoinHeader best = JoinHeader.best(all);
    List<StateDigest.Print> own = prints(replica);
    boolean shares = all.get(ring.rank()).shouldEqual(best);
    ByteBuffer prints = ByteBuffer.allocate(shares ? own.size() * Long.BYTES : 0);
    LongBuffer numbers = prints.asLongBuffer();
    if (shares) {
      own.forEach(print -> numbers.put(print.digest()));
    }
    List<LongBuffer> gathered = new ArrayList<>();
    for (byte[] each : ring.allGather(prints.array(), own.size() * Long.BYTES)) {
      if (each.length > 0) {
        gathered.add(ByteBuffer.wrap(each).asLongBuffer());
      }
    }
    List<String> names =
        IntStream.range(0, own.size())
            .filter(index -> differs(gathered, index))
            .mapToObj(index -> own.get(index).name())
            .toList();
    differences = 1 + all.stream().mapToInt(JoinHeader::differences).max().orElse(0);
    if (drift == Drift.FAIL || differences > MOST_REPAIRS) {
      throw new DriftException(
          "Replicas differ at step %d, in %s. Whatever changes the model or the optimizer must do the same on all replicas: look at the program's own classes, at its plug-ins and at the memory of the nodes."
              .formatted(best.step(), shortened(names)));
    }
    log.warn(
        "{}: replicas differ at step {}, in {}: all take the state of rank {}",
        job,
        best.step(),
        shortened(names),
        all.indexOf(best));
  }

  /** Prints of the last step's learning rate, which is in no state, and of all that is in one. */
  private List<StateDigest.Print> prints(Replica replica) {
    long rate = replica.learningRate().map(Double::doubleToLongBits).orElse(0L);
    List<StateDigest.Print> prints = new ArrayList<>();
    prints.add(new StateDigest.Print("learning rate", rate));
    prints.addAll(StateDigest.prints(replica.state(), layout));
    return prints;
  }

  /** Whether two members have different prints; 0 stands for none. */
  private static boolean differs(List<LongBuffer> prints, int index) {
    return prints.stream()
            .filter(each -> index < each.limit())
            .mapToLong(each -> each.get(index))
            .filter(print -> print != 0)
            .distinct()
            .count()
        > 1;
  }

  private static String shortened(List<String> names) {
    String first = String.join(", ", names.subList(0, Math.min(MOST_NAMES, names.size())));
    return names.size() > MOST_NAMES
        ? "%s and %d more".formatted(first, names.size() - MOST_NAMES)
        : first;
  }
}
