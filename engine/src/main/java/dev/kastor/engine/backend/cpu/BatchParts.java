package dev.kastor.engine.backend.cpu;

import java.util.ArrayList;
import java.util.List;

/**
 * A kernel in parts that each take some of a batch from the first step to the last. Threads that
 * share each step of a sequence would wait for each other twice a step.
 */
record BatchParts(List<Kernel> parts, Kernel all) implements Kernel {
  /** Fewer examples make a product that is slower than two threads are fast. */
  private static final int LEAST = 8;

  /** Makes the part of a kernel that computes examples {@code [first, last)}. */
  interface Maker {
    Kernel part(int first, int last);
  }

  /** The kernel for all examples. */
  static Kernel of(OneDnn oneDnn, int batch, Maker maker) {
    int count = Math.clamp(batch / LEAST, 1, oneDnn.threads());
    if (count == 1) {
      return maker.part(0, batch);
    }
    List<Kernel> parts = new ArrayList<>();
    oneDnn.alone(() -> {
      for (int i = 0; i < count; i++) {
        parts.add(maker.part(batch * i / count, batch * (i + 1) / count));
      }
    });
    Team.Part some = (from, to) -> oneDnn.alone(() -> parts.subList(from, to).forEach(Kernel::run));
    return new BatchParts(parts, oneDnn.team().loop(count, Long.MAX_VALUE, () -> some));
  }

  @Override
  public void run() {
    all.run();
  }

  @Override
  public void close() {
    parts.forEach(Kernel::close);
  }
}
