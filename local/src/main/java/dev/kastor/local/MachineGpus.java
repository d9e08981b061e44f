package dev.kastor.local;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The GPUs of this machine, by the names that {@code CUDA_VISIBLE_DEVICES} has for them. */
public final class MachineGpus {
  private static final String DEVICE = "[0-9]+|(GPU|MIG)-.+";

  private MachineGpus() {}

  /** Those that this process may use; none without NVIDIA's driver. */
  public static List<String> found() {
    return found(System.getenv("CUDA_VISIBLE_DEVICES"), Path.of("/dev"));
  }

  /**
   * Those of a machine.
   *
   * @param visible what {@code CUDA_VISIBLE_DEVICES} says; null if it is not set
   * @param devices folder with the files of devices
   */
  static List<String> found(@Nullable String visible, Path devices) {
    List<String> present = present(devices);
    if (visible == null || present.isEmpty()) {
      return present;
    }
    List<String> allowed = new ArrayList<>();
    for (String device : visible.split(",", -1)) {
      // CUDA does not look at what comes after a name that is none (CUDA C++ Programming Guide).
      if (!device.strip().matches(DEVICE)) {
        break;
      }
      allowed.add(device.strip());
    }
    return allowed;
  }

  private static List<String> present(Path devices) {
    List<String> numbers = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(devices, "nvidia[0-9]*")) {
      files.forEach(file -> numbers.add(file.getFileName().toString().replace("nvidia", "")));
    } catch (IOException e) {
      return List.of();
    }
    numbers.removeIf(number -> !number.matches("[0-9]+"));
    numbers.sort(Comparator.comparingInt(Integer::parseInt));
    return numbers;
  }
}
