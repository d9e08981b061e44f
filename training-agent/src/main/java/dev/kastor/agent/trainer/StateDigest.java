package dev.kastor.agent.trainer;

import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.train.Section;
import dev.kastor.engine.train.TrainingState;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/** A 64-bit digest by which replicas find out whether their states have the same bits. */
final class StateDigest {
  private static final long MULTIPLIER = 0x9e3779b97f4a7c15L;
  private static final int CHAINS = 4;

  private StateDigest() {}

  static long of(TrainingState state) {
    long digest = state.sections().size();
    for (Section section : state.sections()) {
      digest = mix(digest, section.name().hashCode());
      digest = mix(digest, of(section.values()));
    }
    return digest;
  }

  /**
   * Digest of a named part of a state.
   *
   * @param digest 0 stands for none
   */
  record Print(String name, long digest) {}

  /**
   * Prints of all parts of a state: of each tensor of a section that has the form of the
   * parameters, and of each other section as a whole.
   *
   * @param layout of the parameters
   */
  static List<Print> prints(TrainingState state, Layout layout) {
    List<Print> prints = new ArrayList<>();
    for (Section section : state.sections()) {
      Section.Form form = section.form();
      boolean tensors =
          form.type() == Section.Type.F32
              && form.length() == layout.elements()
              && layout.entries().size() > 1;
      if (!tensors) {
        prints.add(new Print(section.name(), of(section.values())));
        continue;
      }
      for (Layout.Entry entry : layout.entries()) {
        MemorySegment values =
            section
                .values()
                .asSlice(
                    (long) entry.offset() * Float.BYTES,
                    (long) entry.shape().elements() * Float.BYTES);
        prints.add(new Print(section.name() + "." + entry.name(), of(values)));
      }
    }
    return prints;
  }

  /** Four independent chains, as each multiplication waits for the one before. */
  private static long of(MemorySegment values) {
    long a = values.byteSize();
    long b = 2;
    long c = 3;
    long d = 4;
    long words = values.byteSize() / Long.BYTES;
    long word = 0;
    for (; word + CHAINS <= words; word += CHAINS) {
      a = chained(a, word(values, word));
      b = chained(b, word(values, word + 1));
      c = chained(c, word(values, word + 2));
      d = chained(d, word(values, word + 3));
    }
    for (; word < words; word++) {
      a = chained(a, word(values, word));
    }
    for (long at = words * Long.BYTES; at < values.byteSize(); at++) {
      a = chained(a, values.get(ValueLayout.JAVA_BYTE, at));
    }
    return mix(mix(mix(a, b), c), d);
  }

  /** Turned, as the highest bit of a product depends on all others and none on it. */
  private static long chained(long chain, long word) {
    return Long.rotateLeft((chain ^ word) * MULTIPLIER, Long.SIZE / 2);
  }

  private static long word(MemorySegment values, long index) {
    return values.get(ValueLayout.JAVA_LONG_UNALIGNED, index * Long.BYTES);
  }

  private static long mix(long digest, long value) {
    long mixed = (digest ^ value) * MULTIPLIER;
    return mixed ^ (mixed >>> 32);
  }
}
