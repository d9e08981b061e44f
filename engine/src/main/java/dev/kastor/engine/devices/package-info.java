/**
 * Layouts of a replica's devices that Kastor ships.
 *
 * <p>Entered through {@link dev.kastor.engine.devices.DeviceLayouts}; each is one class and one
 * line there. Programs know {@link dev.kastor.engine.train.DevicesPlugin} alone.
 */
@NullMarked
package dev.kastor.engine.devices;

import org.jspecify.annotations.NullMarked;
