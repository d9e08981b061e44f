package dev.kastor.local.api;

import java.nio.file.Path;

/** Where the output of pods is kept. */
@FunctionalInterface
public interface PodLogs {
  /** The file that a pod's container writes to; it need not exist yet. */
  Path file(String namespace, String pod);
}
