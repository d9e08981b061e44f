package dev.kastor.local.kubelet;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.local.api.Json;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Processes that were started before the pods that they become: a replica that finds one trains
 * without the seconds that a JVM or the import of PyTorch takes.
 *
 * <p>A process loads its libraries, says so by a file {@code ready} in its folder, and waits for
 * one line of JSON on its standard input: the variables, the arguments and the working directory of
 * its pod. From then on it is that pod's, ends with it and becomes no other. A kind of process is
 * kept once two pods were of it, until for ten minutes none was.
 */
final class SpareProcesses {
  private static final Logger LOG = LoggerFactory.getLogger(SpareProcesses.class);

  /** From one start to the next of a process that waits: replicas that start come first. */
  private static final Duration QUIET = Duration.ofSeconds(3);

  private static final Duration UNUSED = Duration.ofMinutes(10);

  /** Kinds of which processes wait at a time. */
  private static final int MOST_KINDS = 3;

  /** Kinds that are remembered. */
  private static final int MOST_SEEN = 20;

  private static final int WORTH_IT = 2;

  /** File by which a process says that it has loaded what its kind needs. */
  static final String READY = "ready";

  /** Bytes that a pipe of Linux takes before its reader has read any. */
  private static final int LONGEST_LINE = 65_536;

  /** Bytes of the log of an earlier pod that are copied at most: more would hold up all pods. */
  private static final long LONGEST_LOG = 1 << 20;

  private final int most;
  private final Path folder;
  private final LongSupplier nanos;
  private final Map<SpareKind, Waiting> kinds = new HashMap<>();
  private long lastStart;
  private int started;
  private boolean closed;

  /** Processes of one kind, and what pods were of it. */
  private static final class Waiting {
    final Deque<ProcessSession> processes = new ArrayDeque<>();
    int pods;
    long lastPod;
    boolean unusable;
  }

  /**
   * None at first.
   *
   * @param most of a kind at a time
   * @param folder where each gets a folder of its own
   * @param nanos a clock
   */
  SpareProcesses(int most, Path folder, LongSupplier nanos) {
    this.most = most;
    this.folder = folder;
    this.nanos = nanos;
    this.lastStart = nanos.getAsLong();
  }

  /** The process that becomes a pod; empty if none waits that could. */
  synchronized Optional<PodProcess> take(PodCommand pod) throws IOException {
    lastStart = nanos.getAsLong();
    Optional<SpareKind> kind = most == 0 || closed ? Optional.empty() : SpareKind.of(pod);
    if (kind.isEmpty()) {
      return Optional.empty();
    }
    Waiting waiting = kinds.computeIfAbsent(kind.get(), _ -> new Waiting());
    waiting.pods++;
    waiting.lastPod = lastStart;
    byte[] line = line(pod);
    if (line.length > LONGEST_LINE || length(pod.log()) > LONGEST_LOG) {
      return Optional.empty();
    }
    for (ProcessSession process : List.copyOf(waiting.processes)) {
      if (!process.alive() || !Files.exists(process.folder().resolve(READY))) {
        continue;
      }
      waiting.processes.remove(process);
      try {
        takeLog(process, pod.log());
        OutputStream input = process.input();
        input.write(line);
        input.flush();
        return Optional.of(new PodProcess(process, pod.terminationLog()));
      } catch (IOException e) {
        LOG.warn(
            "process {} waited for a pod and cannot become one: {}", process.pid(), e.toString());
        discard(process);
      }
    }
    return Optional.empty();
  }

  private static long length(Path log) throws IOException {
    return Files.exists(log) ? Files.size(log) : 0;
  }

  private static byte[] line(PodCommand pod) {
    ObjectNode line = Json.object();
    ObjectNode environment = line.putObject("environment");
    pod.environment().forEach(environment::put);
    SpareKind.arguments(pod).forEach(line.putArray("arguments")::add);
    line.put("folder", pod.workingDirectory().toString());
    return (line + "\n").getBytes(StandardCharsets.UTF_8);
  }

  /**
   * The process goes on writing to the end of its own file, which so becomes the pod's. What it
   * said as a spare is nothing of the pod's.
   */
  private static void takeLog(ProcessSession process, Path log) throws IOException {
    Path own = log(process.folder());
    try (OutputStream out = Files.newOutputStream(own, StandardOpenOption.TRUNCATE_EXISTING)) {
      if (Files.exists(log)) {
        // Of a pod of the same name before.
        Files.copy(log, out);
      }
    }
    PrivateFiles.directory(log.resolveSibling(".").normalize());
    Files.move(own, log, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  private static Path log(Path folder) {
    return folder.resolve("log");
  }

  /** Starts at most one, where none was started just now, and ends those of kinds without pods. */
  synchronized void step() {
    if (closed) {
      return;
    }
    long now = nanos.getAsLong();
    kinds.values().forEach(SpareProcesses::lookAfter);
    List<SpareKind> newestFirst = new ArrayList<>(kinds.keySet());
    newestFirst.sort(Comparator.comparingLong(kind -> now - at(kind).lastPod));
    int kept = 0;
    for (int i = 0; i < newestFirst.size(); i++) {
      SpareKind kind = newestFirst.get(i);
      Waiting waiting = at(kind);
      boolean unused = now - waiting.lastPod > UNUSED.toNanos();
      if (!unused && waiting.pods >= WORTH_IT && !waiting.unusable && kept < MOST_KINDS) {
        kept++;
        if (waiting.processes.size() < most && now - lastStart >= QUIET.toNanos()) {
          lastStart = now;
          start(kind, waiting);
        }
      } else {
        waiting.processes.forEach(SpareProcesses::discard);
        waiting.processes.clear();
        if (unused || i >= MOST_SEEN) {
          kinds.remove(kind);
        }
      }
    }
  }

  private Waiting at(SpareKind kind) {
    return kinds.computeIfAbsent(kind, _ -> new Waiting());
  }

  private void start(SpareKind kind, Waiting waiting) {
    try {
      Path own = PrivateFiles.directory(folder.resolve("spare-" + started++));
      Map<String, String> environment = new HashMap<>(kind.environment());
      environment.put("KASTOR_SPARE", "true");
      Path runsIn = kind.workingDirectory().orElse(own);
      waiting.processes.add(ProcessSession.start(kind.line(), environment, own, runsIn, log(own)));
    } catch (IOException | NotStartable e) {
      waiting.unusable = true;
      LOG.warn("no process can wait for pods: {}", e.getMessage());
    }
  }

  /** A process that ends while it waits lacks something that its pods may not need. */
  private static void lookAfter(Waiting waiting) {
    for (ProcessSession process : List.copyOf(waiting.processes)) {
      if (!process.alive()) {
        waiting.processes.remove(process);
        waiting.unusable = true;
        LOG.info(
            "process {} ended with {} while it waited for a pod: {}. The pods of its kind start without one",
            process.pid(),
            process.exitCode(),
            lastWords(process));
        discard(process);
      }
    }
  }

  private static String lastWords(ProcessSession process) {
    try {
      String said = Files.readString(log(process.folder())).strip();
      return said.substring(said.lastIndexOf('\n') + 1);
    } catch (IOException e) {
      return "";
    }
  }

  private static void discard(ProcessSession process) {
    process.kill();
    try {
      PrivateFiles.delete(process.folder());
    } catch (IOException e) {
      LOG.warn("{} cannot be removed: {}", process.folder(), e.getMessage());
    }
  }

  /** Ends all that wait; from then on there are none. From any thread. */
  synchronized void close() {
    closed = true;
    kinds.values().forEach(waiting -> waiting.processes.forEach(SpareProcesses::discard));
    kinds.clear();
  }
}
