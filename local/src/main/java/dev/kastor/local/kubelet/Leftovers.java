package dev.kastor.local.kubelet;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Processes of an earlier run on the same folder that was killed before it could end them.
 *
 * <p>A process is one of them if its environment names that folder, or if it is in the session of a
 * pod that was written down there and whose first process still has the same time of start. All
 * others are left alone.
 */
public final class Leftovers {
  /** Variable by which a process says for which folder it was started. */
  public static final String FOLDER = ProcessEntry.FOLDER;

  private static final Logger LOG = LoggerFactory.getLogger(Leftovers.class);
  private static final Duration GRACE = Duration.ofSeconds(2);
  private static final Duration POLL = Duration.ofMillis(20);

  private final Path folder;
  private final Set<String> writtenDown;

  private Leftovers(Path folder) throws IOException {
    this.folder = folder;
    writtenDown = writtenDown(folder);
  }

  /** Ends them, by force those that do not listen, and removes the pods' folders. */
  public static void end(Path folder) throws IOException {
    Leftovers leftovers = new Leftovers(folder);
    List<ProcessHandle> found = leftovers.find();
    if (!found.isEmpty()) {
      LOG.warn("{} processes of an earlier run on {} are ended", found.size(), folder);
      found.forEach(ProcessHandle::destroy);
      if (!leftovers.awaitEnd()) {
        leftovers.find().forEach(ProcessHandle::destroyForcibly);
        if (!leftovers.awaitEnd()) {
          LOG.warn("{} of them do not end", leftovers.find().size());
        }
      }
    }
    PrivateFiles.delete(folder);
  }

  private boolean awaitEnd() {
    long end = System.nanoTime() + GRACE.toNanos();
    while (!find().isEmpty()) {
      if (System.nanoTime() > end) {
        return false;
      }
      try {
        Thread.sleep(POLL);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return false;
      }
    }
    return true;
  }

  private List<ProcessHandle> find() {
    List<ProcessEntry> all = ProcessEntry.all();
    Set<Long> sessions =
        all.stream()
            .filter(entry -> writtenDown.contains(entry.identity()))
            .map(ProcessEntry::session)
            .collect(Collectors.toSet());
    Set<Long> own =
        Stream.iterate(
                Optional.of(ProcessHandle.current()),
                Optional::isPresent,
                process -> process.flatMap(ProcessHandle::parent))
            .map(process -> process.orElseThrow().pid())
            .collect(Collectors.toSet());
    return all.stream()
        .filter(entry -> !own.contains(entry.handle().pid()))
        .filter(entry -> sessions.contains(entry.session()) || entry.startedFor(folder))
        .map(ProcessEntry::handle)
        .toList();
  }

  private static Set<String> writtenDown(Path folder) throws IOException {
    Set<String> identities = new HashSet<>();
    if (Files.isDirectory(folder)) {
      try (DirectoryStream<Path> pods = Files.newDirectoryStream(folder)) {
        for (Path pod : pods) {
          Path file = pod.resolve(ProcessSession.IDENTITY);
          if (Files.isRegularFile(file)) {
            identities.add(Files.readString(file).strip());
          }
        }
      }
    }
    return identities;
  }
}
