package dev.kastor.operator;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/**
 * All that is logged while it is open, with stack traces, but for what the API server under test
 * says.
 */
final class CapturedLog implements AutoCloseable {
  private final List<String> lines = new CopyOnWriteArrayList<>();
  private final Formatter formatter = new SimpleFormatter();
  private final Logger logger;
  private final Level before;
  private final Handler handler =
      new Handler() {
        @Override
        public void publish(LogRecord said) {
          String name = String.valueOf(said.getLoggerName());
          // It is played in this process, and its log is not the operator's.
          if (!name.startsWith("io.fabric8.kubernetes.client.server.mock")
              && !name.startsWith("io.fabric8.mockwebserver")) {
            lines.add(said.getLevel() + " " + formatter.format(said));
          }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  CapturedLog() {
    this("", Level.INFO);
  }

  /** Captures what a category says from a level on. */
  CapturedLog(String category, Level level) {
    logger = Logger.getLogger(category);
    before = logger.getLevel();
    handler.setLevel(Level.ALL);
    logger.setLevel(level);
    logger.addHandler(handler);
  }

  List<String> lines() {
    return List.copyOf(lines);
  }

  @Override
  public void close() {
    logger.removeHandler(handler);
    logger.setLevel(before);
  }
}
