package dev.kastor.e2e.image;

import java.nio.file.Path;

/** Processor architecture of an image, with what distributions and libraries call it. */
enum Platform {
  /** That of the machine on which images are made, which can try what is in them. */
  X86_64("amd64", "x86_64-linux-gnu", "lib64/ld-linux-x86-64.so.2", "x86[-_]64"),
  AARCH64("arm64", "aarch64-linux-gnu", "lib/ld-linux-aarch64.so.1", "(aarch64|arm64)");

  private final String architecture;
  private final String folder;
  private final String loader;
  private final String jars;

  Platform(String architecture, String folder, String loader, String jars) {
    this.architecture = architecture;
    this.folder = folder;
    this.loader = loader;
    this.jars = jars;
  }

  /** Name in image manifests. */
  String architecture() {
    return architecture;
  }

  /** Folder of Debian's libraries, without what is above it. */
  String folder() {
    return folder;
  }

  /** Path of the program that loads libraries, which every executable names. */
  String loader() {
    return loader;
  }

  /** Whether a jar is of use here: it has native libraries for Linux on this processor, or none. */
  boolean uses(Path jar) {
    String name = String.valueOf(jar.getFileName());
    return isNative(jar)
        || !name.matches(".*(linux|darwin|win32)-(x86[-_]64|aarch64|arm64).*\\.jar");
  }

  /** Whether a jar has native libraries for Linux on this processor. */
  boolean isNative(Path jar) {
    return String.valueOf(jar.getFileName()).matches(".*linux-" + jars + ".*\\.jar");
  }
}
