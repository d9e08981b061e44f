package dev.kastor.engine.devices;

import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.exec.GraphExecutor;
import dev.kastor.engine.partition.SplitReplica;
import dev.kastor.engine.train.DevicesPlugin;
import dev.kastor.plugin.Option;
import dev.kastor.plugin.Options;
import java.util.List;

/** The layers of a network over all devices of a replica, one stage after the other. */
final class Split implements DevicesPlugin {
  @Override
  public String name() {
    return "split";
  }

  @Override
  public String description() {
    return "Splits the layers of the network over the devices of a replica, for models too large"
        + " for one.";
  }

  @Override
  public List<Option<?>> options() {
    return List.of(MemoryCap.OPTION);
  }

  @Override
  public int devices(int slots) {
    if (slots < 2) {
      throw new IllegalArgumentException(
          "split needs replicas of several devices, but elastic.slotsPerReplica is %d. Set it to 2 or more"
              .formatted(slots));
    }
    return slots;
  }

  @Override
  public GraphExecutor executor(List<Backend> backends, Options options) {
    return new SplitReplica(backends, MemoryCap.bytes(options));
  }
}
