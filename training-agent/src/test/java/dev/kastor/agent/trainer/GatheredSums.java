package dev.kastor.agent.trainer;

import dev.kastor.engine.train.Collective;
import dev.kastor.engine.train.CollectivePlugin;
import dev.kastor.engine.train.CollectivePort;
import dev.kastor.plugin.Options;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/** Collective that needs no connections of its own: all have all, and add in the order of ranks. */
final class GatheredSums implements CollectivePlugin {
  private static final int CAPACITY = 1024;

  @Override
  public String name() {
    return "gathered";
  }

  @Override
  public String description() {
    return "Sums what all give to all.";
  }

  @Override
  public Collective create(Options options) {
    return Sums::new;
  }

  /** Sums of one generation. */
  private record Sums(CollectivePort port) implements Collective.Sums {
    @Override
    public int capacity() {
      return CAPACITY;
    }

    @Override
    public void allReduce(float[] data, int from, int to) throws IOException {
      ByteBuffer own = ByteBuffer.allocate((to - from) * Float.BYTES);
      own.asFloatBuffer().put(data, from, to - from);
      List<byte[]> all = port.allGather(own.array());
      for (int i = from; i < to; i++) {
        data[i] = 0;
        for (byte[] each : all) {
          data[i] += ByteBuffer.wrap(each).getFloat((i - from) * Float.BYTES);
        }
      }
    }
  }
}
