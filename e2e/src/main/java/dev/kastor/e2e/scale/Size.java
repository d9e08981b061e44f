package dev.kastor.e2e.scale;

/** How large a run is and how long it lasts, as given to {@code ./kastor e2e --scale}. */
final class Size {
  private Size() {}

  /** Nodes that kwok plays. */
  static int nodes() {
    return setting("nodes", 200);
  }

  /** Jobs that are created at once. */
  static int jobs() {
    return setting("jobs", 1000);
  }

  /** Minutes of a soak. */
  static int minutes() {
    return setting("minutes", 2);
  }

  /** Heap of the operator in MiB: the share that its image takes of a limit of 1.5 GiB. */
  static int heap() {
    return setting("heap", 920);
  }

  /** A number given as {@code name=number}. */
  static int setting(String name, int otherwise) {
    return Integer.getInteger("kastor.scale." + name, otherwise);
  }
}
