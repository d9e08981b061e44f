package dev.kastor.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.logging.Handler;
import java.util.logging.Level;
import org.jboss.logmanager.ExtHandler;
import org.jboss.logmanager.ExtLogRecord;
import org.jboss.logmanager.Logger;
import org.jboss.logmanager.handlers.ConsoleHandler;
import org.junit.jupiter.api.Test;

/** Text of tenants in the operator's log, of which it cannot make entries. */
@QuarkusTest
@QuarkusTestResource(FakeApiServer.class)
class LogFormatIT {
  private static final String HOSTILE =
      "out of memory\033]0;T\007\033[2J\u009B2J\r\n"
          + "12:00:00.000 INFO  [AllocationWriter] prod/payroll: 8 -> 0 replicas\u202E";

  @Test
  void noMessageMakesAnEntryOfItsOwn() {
    ExtLogRecord entry =
        new ExtLogRecord(Level.WARNING, "red/job: %s", ExtLogRecord.FormatStyle.PRINTF, "x.Y");
    entry.setParameters(new Object[] {HOSTILE});
    entry.setThrown(new IllegalStateException(HOSTILE));

    String written = Objects.requireNonNull(console().getFormatter()).format(entry);

    assertThat(written).contains("red/job: out of memory").endsWith("\n");
    assertThat(written).doesNotContainPattern("[\\x00-\\x08\\x0B-\\x1F\\x7F-\\x9F\u202E]");
    List<String> lines = written.lines().toList();
    assertThat(lines).hasSizeGreaterThan(4);
    assertThat(lines.subList(1, lines.size())).allMatch(line -> line.startsWith("\t"));
  }

  private static Handler console() {
    Deque<Handler> handlers = new ArrayDeque<>(List.of(Logger.getLogger("").getHandlers()));
    while (!handlers.isEmpty()) {
      Handler handler = handlers.pop();
      if (handler instanceof ConsoleHandler) {
        return handler;
      }
      if (handler instanceof ExtHandler outer) {
        handlers.addAll(List.of(outer.getHandlers()));
      }
    }
    throw new AssertionError("the log has no console");
  }
}
