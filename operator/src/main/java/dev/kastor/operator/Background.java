package dev.kastor.operator;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Work over all jobs there are, which must not take the processor from what somebody waits for.
 *
 * <p>Java's own priorities have no effect on Linux unless the whole virtual machine is told so,
 * which then warns each time it starts.
 */
public final class Background {
  private static final Logger LOG = LoggerFactory.getLogger(Background.class);

  /** A nice value of a thread: of a processor that two want, it gets a quarter. */
  private static final int NICENESS = 5;

  /** For {@code setpriority}: the thread that calls, on Linux alone. */
  private static final int THIS_THREAD = 0;

  private Background() {}

  /** The same on a thread that stands back. */
  public static Runnable of(Runnable work) {
    return () -> {
      standBack();
      work.run();
    };
  }

  /** Where that cannot be, all threads are equal, and only thousands of jobs would tell. */
  @SuppressWarnings("restricted") // A system call that can do nothing but what it says.
  private static void standBack() {
    if (!System.getProperty("os.name", "").toLowerCase(Locale.ROOT).contains("linux")) {
      return;
    }
    try {
      Linker linker = Linker.nativeLinker();
      var type =
          FunctionDescriptor.of(
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT);
      var set =
          linker.downcallHandle(linker.defaultLookup().find("setpriority").orElseThrow(), type);
      int _ = (int) set.invokeExact(0, THIS_THREAD, NICENESS);
    } catch (Throwable e) {
      LOG.debug("a thread keeps its priority", e);
    }
  }
}
