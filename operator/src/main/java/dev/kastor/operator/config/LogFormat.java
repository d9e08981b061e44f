package dev.kastor.operator.config;

import dev.kastor.text.PrintableText;
import io.quarkus.runtime.StartupEvent;
import jakarta.annotation.Priority;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import org.jboss.logmanager.ExtFormatter;
import org.jboss.logmanager.ExtHandler;
import org.jboss.logmanager.ExtLogRecord;
import org.jboss.logmanager.Logger;

/**
 * Format of the operator's log: messages hold what tenants wrote, and none of it can act on a
 * terminal or be taken for an entry of its own ({@link PrintableText#entry}).
 */
@Singleton
public final class LogFormat {
  /** Before anything is read that a tenant could have written. */
  private static final int FIRST = 1;

  void start(@Observes @Priority(FIRST) StartupEvent event) {
    for (Handler handler : Logger.getLogger("").getHandlers()) {
      apply(handler);
    }
  }

  private static void apply(Handler handler) {
    Formatter before = handler.getFormatter();
    if (before instanceof ExtFormatter formatter && !(before instanceof Entries)) {
      handler.setFormatter(new Entries(formatter));
    }
    if (handler instanceof ExtHandler outer) {
      for (Handler inner : outer.getHandlers()) {
        apply(inner);
      }
    }
  }

  /** Entries as another formatter writes them. */
  static final class Entries extends ExtFormatter.Delegating {
    Entries(ExtFormatter delegate) {
      super(delegate);
    }

    @Override
    public String format(ExtLogRecord entry) {
      return PrintableText.entry(super.format(entry));
    }
  }
}
