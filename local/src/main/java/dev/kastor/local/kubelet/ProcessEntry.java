package dev.kastor.local.kubelet;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A live process as Linux shows it under {@code /proc}; elsewhere there are none to be seen.
 *
 * @param handle the process; a signal through it reaches no later one of the same number
 * @param session the session that it is in: the number of the process that began it
 * @param started when it started, in ticks since the machine did; no change of the clock moves it
 */
record ProcessEntry(ProcessHandle handle, long session, long started) {
  /** Variable by which a process says for which folder of local mode it was started. */
  static final String FOLDER = "KASTOR_LOCAL_FOLDER";

  private static final Path PROC = Path.of("/proc");

  /** Places in {@code /proc/PID/stat} after the name: see proc_pid_stat(5), from field 3. */
  private static final int STATE = 0;

  private static final int SESSION = 3;
  private static final int STARTED = 19;

  /** All processes of this machine but this one. */
  static List<ProcessEntry> all() {
    List<ProcessEntry> all = new ArrayList<>();
    long self = ProcessHandle.current().pid();
    // The handle comes first: if its number is used again later, it signals nobody.
    ProcessHandle.allProcesses()
        .filter(handle -> handle.pid() != self)
        .forEach(handle -> of(handle).ifPresent(all::add));
    return all;
  }

  /** The entry of a process; empty if it has ended, or cannot be seen. */
  static Optional<ProcessEntry> of(ProcessHandle handle) {
    String stat = new String(read(handle.pid(), "stat"), StandardCharsets.UTF_8);
    String[] fields = stat.substring(stat.lastIndexOf(')') + 1).strip().split(" ", -1);
    if (fields.length <= STARTED || fields[STATE].equals("Z") || fields[STATE].equals("X")) {
      return Optional.empty();
    }
    return Optional.of(
        new ProcessEntry(handle, Long.parseLong(fields[SESSION]), Long.parseLong(fields[STARTED])));
  }

  /** What no other process is called, as long as the machine runs. */
  String identity() {
    return handle.pid() + " " + started;
  }

  /** Whether it was started for a folder or one below it. */
  boolean startedFor(Path folder) {
    String environment = new String(read(handle.pid(), "environ"), StandardCharsets.UTF_8);
    for (String variable : environment.split("\0", -1)) {
      if (variable.startsWith(FOLDER + "=")) {
        return Path.of(variable.substring(FOLDER.length() + 1)).startsWith(folder);
      }
    }
    return false;
  }

  private static byte[] read(long pid, String file) {
    try {
      return Files.readAllBytes(PROC.resolve(Long.toString(pid)).resolve(file));
    } catch (IOException e) {
      // It has ended, or belongs to somebody else.
      return new byte[0];
    }
  }
}
