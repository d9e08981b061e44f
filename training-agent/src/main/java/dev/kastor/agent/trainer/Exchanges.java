package dev.kastor.agent.trainer;

import dev.kastor.agent.ring.GradientExchange;
import dev.kastor.agent.ring.Ring;
import dev.kastor.agent.ring.RingBrokenException;
import dev.kastor.agent.ring.StepExchange;
import dev.kastor.agent.ring.Sums;
import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.train.Collective;
import dev.kastor.engine.train.GradientCodec;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Exchanges of this replica's gradients with the other members, from generation to generation: as
 * sums, or as codes where the job has a codec, which keeps its error buffers meanwhile.
 */
final class Exchanges {
  /** Arrays of all JVMs may be as long. */
  private static final long MOST_BYTES = Integer.MAX_VALUE - 8;

  private final TrainingSettings settings;
  private final float[] gradient;
  private final @Nullable GradientCodec codec;
  private final @Nullable Collective collective;

  /**
   * Exchanges of a replica that has exchanged nothing yet.
   *
   * @param layout of the parameters
   * @param gradient our share before each exchange, the sum after it
   */
  Exchanges(TrainingSettings settings, Layout layout, float[] gradient) {
    this.settings = settings;
    this.gradient = gradient;
    this.codec =
        settings
            .method()
            .codec()
            .map(chosen -> chosen.plugin().create(chosen.options(), layout))
            .orElse(null);
    this.collective =
        settings
            .method()
            .collective()
            .map(chosen -> chosen.plugin().create(chosen.options()))
            .orElse(null);
    if (codec != null && codec.mostBytes() > MOST_BYTES) {
      throw new IllegalArgumentException(
          "codes of codec %s may have %d bytes for %d parameters, but codes of at most %d bytes can be exchanged. Choose another codec."
              .formatted(codecName(), codec.mostBytes(), gradient.length, MOST_BYTES));
    }
  }

  /** Exchanges of the steps of one generation. */
  interface OfGeneration extends AutoCloseable {
    /** That of the next step. */
    StepExchange begin();

    /** Replaces a vector by its sum over all members, whatever stands for gradients. */
    void sum(float[] vector) throws RingBrokenException;

    /** Gives back what it has; the ring stays as it is. */
    @Override
    default void close() {}
  }

  /**
   * Those of a generation, made by all its members at once.
   *
   * @param nodes of the members, in rank order
   * @throws RingBrokenException if they cannot even agree on how
   */
  OfGeneration over(Ring ring, List<String> nodes) throws RingBrokenException {
    if (codec != null && settings.isCoded(ring.size())) {
      return new Coded(ring, codecName(), codec, gradient);
    }
    return new Summed(ring, sums(ring, nodes), gradient);
  }

  private Sums sums(Ring ring, List<String> nodes) throws RingBrokenException {
    if (collective == null || ring.size() == 1) {
      return new Sums.RingSums(ring);
    }
    String name = settings.method().collective().orElseThrow().name();
    return PortedSums.over(ring, nodes, name, collective);
  }

  private String codecName() {
    return settings.method().codec().orElseThrow().name();
  }

  /** Sums over a ring's members. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Summed(Ring ring, Sums sums, float[] gradient) implements OfGeneration {
    @Override
    public StepExchange begin() {
      return new GradientExchange(ring, sums, gradient, (_, _, _) -> {});
    }

    @Override
    public void sum(float[] vector) throws RingBrokenException {
      for (int from = 0; from < vector.length; from += sums.capacity()) {
        sums.allReduce(vector, from, (int) Math.min(vector.length, (long) from + sums.capacity()));
      }
    }

    @Override
    public void close() {
      sums.close();
    }
  }

  /** Codes of a ring's members. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Coded(Ring ring, String name, GradientCodec codec, float[] gradient)
      implements OfGeneration {
    @Override
    public StepExchange begin() {
      return new CodedExchange(ring, name, codec, gradient);
    }

    @Override
    public void sum(float[] vector) throws RingBrokenException {
      ring.allReduce(vector);
    }
  }
}
