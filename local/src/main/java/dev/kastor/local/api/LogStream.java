package dev.kastor.local.api;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Copies a pod's log to a client, and what is added to it for as long as the pod runs. */
final class LogStream {
  private static final Duration PAUSE = Duration.ofMillis(200);
  private static final Set<String> ENDED = Set.of("Succeeded", "Failed");
  private static final int CHUNK = 64 * 1024;

  private final Resources resources;
  private final String namespace;
  private final String pod;
  private final Path file;

  LogStream(Resources resources, String namespace, String pod, Path file) {
    this.resources = resources;
    this.namespace = namespace;
    this.pod = pod;
    this.file = file;
  }

  void copy(OutputStream out, boolean follow, long tailLines)
      throws IOException, InterruptedException {
    long position = tailLines >= 0 ? tailStart(tailLines) : 0;
    while (true) {
      boolean over = !follow || ended() || resources.store().closed();
      position = copyFrom(position, out);
      if (over) {
        return;
      }
      Thread.sleep(PAUSE);
    }
  }

  private boolean ended() {
    @Nullable ObjectNode now = resources.find(ResourceTypes.POD, namespace, pod);
    return now == null || ENDED.contains(now.at("/status/phase").asText());
  }

  private long copyFrom(long start, OutputStream out) throws IOException {
    if (!Files.exists(file)) {
      return start;
    }
    long position = start;
    try (SeekableByteChannel channel = Files.newByteChannel(file)) {
      channel.position(start);
      ByteBuffer buffer = ByteBuffer.allocate(CHUNK);
      while (channel.read(buffer) > 0) {
        out.write(buffer.array(), 0, buffer.position());
        position += buffer.position();
        buffer.clear();
      }
      out.flush();
    }
    return position;
  }

  private long tailStart(long lines) throws IOException {
    if (!Files.exists(file)) {
      return 0;
    }
    byte[] bytes = Files.readAllBytes(file);
    long left = lines;
    for (int i = bytes.length - 1; i >= 0; i--) {
      if (bytes[i] == '\n' && i != bytes.length - 1 && --left == 0) {
        return i + 1L;
      }
    }
    return lines == 0 ? bytes.length : 0;
  }
}
