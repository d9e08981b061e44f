package dev.kastor.engine.devices;

import dev.kastor.engine.train.DevicesPlugin;
import dev.kastor.plugin.Registry;
import java.util.List;

/** Registry of the layouts of devices that Kastor ships. */
public final class DeviceLayouts {
  /** All of them, in the order to show them. */
  public static final Registry<DevicesPlugin> BUILT_IN =
      Registry.of("layout of devices", List.of(new Whole(), new Split()));

  private DeviceLayouts() {}
}
