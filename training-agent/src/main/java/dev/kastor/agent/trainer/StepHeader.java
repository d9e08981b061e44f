package dev.kastor.agent.trainer;

import dev.kastor.agent.ring.RingBrokenException;
import dev.kastor.engine.train.AuditDigest;
import dev.kastor.protocol.Member;
import dev.kastor.protocol.Membership;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What a replica tells the others beside its gradient, all of it exact.
 *
 * @param step steps applied before this one: must be the same on all
 * @param newestGeneration the newest generation it knows and is ready to switch to
 * @param compares whether rank 0 asks for a comparison of the states before this step
 * @param local its passes
 */
record StepHeader(long step, long newestGeneration, boolean compares, LocalStep local) {
  private static final int BYTES = 9 * Long.BYTES + 2;

  byte[] encode() {
    return ByteBuffer.allocate(BYTES)
        .putLong(step)
        .putLong(newestGeneration)
        .putDouble(local.loss())
        .putDouble(local.squaredNorms())
        .putLong(local.judged().count())
        .putLong(local.judged().sum())
        .putLong(local.trained().count())
        .putLong(local.trained().sum())
        .putDouble(local.passSeconds())
        .put((byte) (local.finite() ? 1 : 0))
        .put((byte) (compares ? 1 : 0))
        .array();
  }

  static StepHeader decode(byte[] bytes) throws RingBrokenException {
    if (bytes.length != BYTES) {
      throw new RingBrokenException("a step header has %d bytes".formatted(bytes.length));
    }
    ByteBuffer in = ByteBuffer.wrap(bytes);
    long step = in.getLong();
    long newestGeneration = in.getLong();
    double loss = in.getDouble();
    double squaredNorms = in.getDouble();
    AuditDigest judged = new AuditDigest(in.getLong(), in.getLong());
    AuditDigest trained = new AuditDigest(in.getLong(), in.getLong());
    double passSeconds = in.getDouble();
    boolean finite = in.get() != 0;
    boolean compares = in.get() != 0;
    return new StepHeader(
        step,
        newestGeneration,
        compares,
        new LocalStep(loss, squaredNorms, judged, trained, passSeconds, finite));
  }

  /** Decodes all members' headers and checks that they are about the same step. */
  static List<StepHeader> decodeAll(List<byte[]> gathered, long step) throws RingBrokenException {
    List<StepHeader> headers = new ArrayList<>();
    for (byte[] bytes : gathered) {
      StepHeader header = decode(bytes);
      if (header.step != step) {
        throw new RingBrokenException(
            "rank %d is at step %d, not %d".formatted(headers.size(), header.step, step));
      }
      headers.add(header);
    }
    return headers;
  }

  /** Sentence that names the members whose gradient is not finite, the same on all of them. */
  static String unfit(Membership membership, List<StepHeader> all) {
    return membership.members().stream()
        .filter(member -> !all.get(member.rank()).local().finite())
        .map(Member::pod)
        .collect(Collectors.joining(", ", "the gradient of ", " is not finite"));
  }
}
