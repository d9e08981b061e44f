package dev.kastor.engine.devices;

import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.exec.GraphExecutor;
import dev.kastor.engine.exec.Session;
import dev.kastor.engine.train.DevicesPlugin;
import dev.kastor.plugin.Option;
import dev.kastor.plugin.Options;
import java.util.List;

/** All of a pass on one device. */
final class Whole implements DevicesPlugin {
  @Override
  public String name() {
    return "whole";
  }

  @Override
  public String description() {
    return "Computes all of a pass on one device.";
  }

  @Override
  public List<Option<?>> options() {
    return List.of(MemoryCap.OPTION);
  }

  @Override
  public int devices(int slots) {
    return 1;
  }

  @Override
  public GraphExecutor executor(List<Backend> backends, Options options) {
    return new Session(backends.getFirst(), MemoryCap.bytes(options), 1);
  }
}
