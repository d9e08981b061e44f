package dev.kastor.engine.devices;

import dev.kastor.plugin.Option;
import dev.kastor.plugin.Options;

/** The option {@code memoryMiB}, the same in all layouts. */
final class MemoryCap {
  static final Option<Integer> OPTION =
      Option.count(
              "memoryMiB",
              0,
              "most MiB of the host that values and compiled code take for each device; 0 for no"
                  + " cap")
          .where(value -> value >= 0, "0 or more");

  private MemoryCap() {}

  static long bytes(Options options) {
    int mebibytes = options.get(OPTION);
    return mebibytes == 0 ? Long.MAX_VALUE : (long) mebibytes << 20;
  }
}
