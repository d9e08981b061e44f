package dev.kastor.agent.servers;

import dev.kastor.agent.ring.PeerLink;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Word between a worker and a server, or between server 0 and another server. What a field may be
 * is checked by whoever reads it; vectors follow some of them, of lengths that both sides know.
 */
public sealed interface Message {
  /** Bytes that suffice for all messages but those that hold a list or a text. */
  int SHORT_BYTES = 64;

  /** Worker to server 0: it is free. Answered by a deal, an evaluation, a move or an end. */
  record Ask() implements Message {}

  /**
   * Server 0 to a worker: a share to compute.
   *
   * @param update updates applied when it was dealt
   * @param share number of the share
   * @param first position of its first example
   * @param atomicBatchSize examples of each of its passes
   * @param accumulationSteps extra passes
   */
  record Deal(long update, long share, long first, int atomicBatchSize, int accumulationSteps)
      implements Message {}

  /** Server 0 to a worker: evaluate the parameters, after reading them with the statistics. */
  record Evaluate() implements Message {}

  /** Worker to server 0: the result of an evaluation. */
  record Evaluated(String metric, double value, boolean higherIsBetter) implements Message {}

  /** Server 0 to all: the generation is over. */
  record Move() implements Message {}

  /**
   * Server 0 to all: training ends.
   *
   * @param outcome as JSON
   */
  record End(String outcome) implements Message {}

  /**
   * Worker to server: asks for parameters, which follow the answer.
   *
   * @param statistics whether the running statistics are wanted behind them, from server 0
   * @param runs of the shard that are wanted
   */
  record Pull(boolean statistics, Runs runs) implements Message {}

  /**
   * Server to a worker, or to server 0: parameters follow.
   *
   * @param updates that they have
   */
  record Version(long updates) implements Message {}

  /** Worker to server 0: a share is computed. Answered by whether it is still wanted. */
  record Offer(long share) implements Message {}

  /** Answer to what is a question, or an acknowledgement. */
  record Answer(boolean yes) implements Message {}

  /**
   * Worker to server: the slice of a gradient follows, for server 0 with the batch statistics.
   *
   * @param read updates of the parameters it was computed from, of the oldest shard
   * @param runs of the shard that the slice has; it is zero elsewhere
   */
  record Push(long share, long read, Passed passed, Runs runs) implements Message {}

  /**
   * Numbers that the passes of a share gave beside vectors.
   *
   * @param examples trained
   * @param digest of these
   */
  record Passed(
      double loss,
      double squaredNorms,
      long examples,
      long digest,
      double passSeconds,
      boolean finite) {}

  /**
   * Server to server 0: the state that it has.
   *
   * @param line number of the start from which it comes; 0 without state
   */
  record Hello(long line, long updates) implements Message {}

  /** Server 0 to a server: all its vectors follow; acknowledged. */
  record State(long line, long updates) implements Message {}

  /** Server 0 to a server: make the mean of these. Answered by its squared norm. */
  record Reduce(List<Shard.Slice> slices) implements Message {
    public Reduce {
      slices = List.copyOf(slices);
    }
  }

  /** Server 0 to a server: compare the mean with the one kept. */
  record Compare() implements Message {}

  /** Server 0 to a server: keep the mean; acknowledged. */
  record Keep() implements Message {}

  /**
   * Server 0 to a server: update; acknowledged, by false if the server asks for a checkpoint, as it
   * is to end.
   *
   * @param below slices of shares below this one will not count any more
   */
  record Apply(double learningRate, long step, long below) implements Message {}

  /** Server 0 to a server: send all vectors, behind a version. */
  record Collect() implements Message {}

  /** Result of arithmetic on a shard. */
  record Numbers(double first, double second) implements Message {}

  /** Its bytes. */
  default byte[] encode() {
    ByteBuffer out = ByteBuffer.allocate(mostBytes());
    switch (this) {
      case Ask _ -> out.put((byte) 1);
      case Deal(long update, long share, long first, int atomicBatchSize, int extra) ->
          out.put((byte) 2)
              .putLong(update)
              .putLong(share)
              .putLong(first)
              .putInt(atomicBatchSize)
              .putInt(extra);
      case Evaluate _ -> out.put((byte) 3);
      case Evaluated(String metric, double value, boolean higher) ->
          out.put((byte) 4)
              .putDouble(value)
              .put(bit(higher))
              .put(metric.getBytes(StandardCharsets.UTF_8));
      case Move _ -> out.put((byte) 5);
      case End(String outcome) -> out.put((byte) 6).put(outcome.getBytes(StandardCharsets.UTF_8));
      case Pull(boolean statistics, Runs runs) -> {
        out.put((byte) 7).put(bit(statistics));
        runs.bounds().forEach(out::putInt);
      }
      case Version(long updates) -> out.put((byte) 8).putLong(updates);
      case Offer(long share) -> out.put((byte) 9).putLong(share);
      case Answer(boolean yes) -> out.put((byte) 10).put(bit(yes));
      case Push(long share, long read, Passed passed, Runs runs) -> {
        out.put((byte) 11)
            .putLong(share)
            .putLong(read)
            .putDouble(passed.loss)
            .putDouble(passed.squaredNorms)
            .putLong(passed.examples)
            .putLong(passed.digest)
            .putDouble(passed.passSeconds)
            .put(bit(passed.finite));
        runs.bounds().forEach(out::putInt);
      }
      case Hello(long line, long updates) -> out.put((byte) 12).putLong(line).putLong(updates);
      case State(long line, long updates) -> out.put((byte) 13).putLong(line).putLong(updates);
      case Reduce(List<Shard.Slice> slices) -> {
        out.put((byte) 14);
        slices.forEach(each -> out.putLong(each.share()).putInt(each.rank()));
      }
      case Compare _ -> out.put((byte) 15);
      case Keep _ -> out.put((byte) 16);
      case Apply(double rate, long step, long below) ->
          out.put((byte) 17).putDouble(rate).putLong(step).putLong(below);
      case Collect _ -> out.put((byte) 18);
      case Numbers(double first, double second) ->
          out.put((byte) 19).putDouble(first).putDouble(second);
    }
    byte[] bytes = new byte[out.position()];
    out.flip().get(bytes);
    return bytes;
  }

  private int mostBytes() {
    return switch (this) {
      case Reduce _, End _, Evaluated _ -> PeerLink.MOST_BYTES;
      case Pull pull -> SHORT_BYTES + pull.runs.count() * Integer.BYTES;
      case Push push -> SHORT_BYTES + push.runs.count() * Integer.BYTES;
      default -> SHORT_BYTES;
    };
  }

  private static byte bit(boolean yes) {
    return (byte) (yes ? 1 : 0);
  }

  /**
   * The message of some bytes.
   *
   * @throws IOException if they are none
   */
  static Message decode(byte[] bytes) throws IOException {
    ByteBuffer in = ByteBuffer.wrap(bytes);
    try {
      Message message = decode(in.get(), in);
      if (!in.hasRemaining()) {
        return message;
      }
    } catch (BufferUnderflowException | IllegalArgumentException e) {
      throw new IOException("%d bytes are no message".formatted(bytes.length), e);
    }
    throw new IOException("%d bytes are too many for a message".formatted(bytes.length));
  }

  private static Message decode(byte kind, ByteBuffer in) {
    return switch (kind) {
      case 1 -> new Ask();
      case 2 -> new Deal(in.getLong(), in.getLong(), in.getLong(), in.getInt(), in.getInt());
      case 3 -> new Evaluate();
      case 4 -> {
        double value = in.getDouble();
        boolean higher = bit(in);
        yield new Evaluated(StandardCharsets.UTF_8.decode(in).toString(), value, higher);
      }
      case 5 -> new Move();
      case 6 -> new End(StandardCharsets.UTF_8.decode(in).toString());
      case 7 -> new Pull(bit(in), runs(in));
      case 8 -> new Version(in.getLong());
      case 9 -> new Offer(in.getLong());
      case 10 -> new Answer(bit(in));
      case 11 ->
          new Push(
              in.getLong(),
              in.getLong(),
              new Passed(
                  in.getDouble(),
                  in.getDouble(),
                  in.getLong(),
                  in.getLong(),
                  in.getDouble(),
                  bit(in)),
              runs(in));
      case 12 -> new Hello(in.getLong(), in.getLong());
      case 13 -> new State(in.getLong(), in.getLong());
      case 14 -> {
        List<Shard.Slice> slices = new ArrayList<>();
        while (in.hasRemaining()) {
          slices.add(new Shard.Slice(in.getLong(), in.getInt()));
        }
        yield new Reduce(slices);
      }
      case 15 -> new Compare();
      case 16 -> new Keep();
      case 17 -> new Apply(in.getDouble(), in.getLong(), in.getLong());
      case 18 -> new Collect();
      case 19 -> new Numbers(in.getDouble(), in.getDouble());
      default -> throw new IllegalArgumentException("no message has the number " + kind);
    };
  }

  private static Runs runs(ByteBuffer in) {
    int[] bounds = new int[in.remaining() / Integer.BYTES];
    in.asIntBuffer().get(bounds);
    in.position(in.position() + bounds.length * Integer.BYTES);
    return new Runs(bounds);
  }

  private static boolean bit(ByteBuffer in) {
    byte read = in.get();
    if (read != 0 && read != 1) {
      throw new IllegalArgumentException("neither true nor false: " + read);
    }
    return read == 1;
  }
}
