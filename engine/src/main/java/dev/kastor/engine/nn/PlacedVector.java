package dev.kastor.engine.nn;

import dev.kastor.engine.backend.DeviceVector;
import org.jspecify.annotations.Nullable;

/**
 * Vector in the memory of the host and, where the backend has memory of its own, in that of the
 * device; knows which of both has the newest values, and copies them when the other is asked for.
 */
final class PlacedVector implements AutoCloseable {
  /** Memory with the newest values. */
  private enum Newest {
    HOST,
    DEVICE,
    BOTH
  }

  private final float[] host;
  private final @Nullable DeviceVector device;
  private Newest newest = Newest.HOST;

  /**
   * A vector whose newest values are those of the host.
   *
   * @param device null if there is none
   */
  PlacedVector(float[] host, @Nullable DeviceVector device) {
    this.host = host;
    this.device = device;
  }

  /** The device's; null if there is none. */
  @Nullable DeviceVector device() {
    return device;
  }

  /** The device's, where it must have one. */
  DeviceVector onDevice() {
    if (device == null) {
      throw new IllegalStateException("The host alone has this vector.");
    }
    return device;
  }

  /** The newest values; whoever asks does not change them. */
  float[] read() {
    if (device != null && newest == Newest.DEVICE) {
      device.read(host);
      newest = Newest.BOTH;
    }
    return host;
  }

  /** The newest values, which whoever asks may change until the device is asked for them. */
  float[] change() {
    read();
    newest = Newest.HOST;
    return host;
  }

  /** Lets the host's values be the newest, whatever the device has. */
  void replaced() {
    newest = Newest.HOST;
  }

  /** Gives the device the newest values; false if there is none. */
  boolean toDevice() {
    if (device == null) {
      return false;
    }
    if (newest == Newest.HOST) {
      device.write(host);
      newest = Newest.BOTH;
    }
    return true;
  }

  /** A graph has changed the device's. */
  void changedOnDevice() {
    newest = Newest.DEVICE;
  }

  @Override
  public void close() {
    if (device != null) {
      device.close();
    }
  }
}
