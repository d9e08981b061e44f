package dev.kastor.cli.job;

import dev.kastor.cli.connect.Cluster;
import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.local.Foreground;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ControlSequence;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.terminal.Ink;
import dev.kastor.cli.terminal.Keyboard;
import dev.kastor.cli.terminal.Screen;
import dev.kastor.cli.view.JobView;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** The live table. */
final class Top {
  private static final long MILLIS = 1000;

  private final ClusterOptions options;
  private final PrintWriter out;

  Top(ClusterOptions options, PrintWriter out) {
    this.options = options;
    this.out = out;
  }

  int run(double intervalSeconds, boolean once) {
    if (!(intervalSeconds > 0)) {
      throw new CliException(ExitCode.USAGE, "--interval must be above 0");
    }
    Duration interval = Duration.ofMillis(Math.round(intervalSeconds * MILLIS));
    return Foreground.run(() -> {
      try (Cluster cluster = Cluster.connect(options)) {
        if (Ink.watched() && !once) {
          live(cluster, interval);
        } else {
          plain(cluster, interval, once);
        }
      }
      return ExitCode.OK;
    });
  }

  /** One table after the other, whole, for files and pipes. */
  private void plain(Cluster cluster, Duration interval, boolean once) throws InterruptedException {
    while (true) {
      page(cluster, TopPage.Order.PHASE, 0, Integer.MAX_VALUE, Integer.MAX_VALUE)
          .lines()
          .forEach(out::println);
      out.flush();
      if (once) {
        return;
      }
      Thread.sleep(interval);
    }
  }

  /** On a screen of its own, which the terminal forgets at the end. */
  private void live(Cluster cluster, Duration interval) throws IOException, InterruptedException {
    try (Keyboard keyboard = Keyboard.open()) {
      print(ControlSequence.of("?1049h") + ControlSequence.of("?25l"));
      TopPage page = page(cluster, TopPage.Order.PHASE, 0, keyboard.rows(), keyboard.columns());
      long due = System.nanoTime() + interval.toNanos();
      while (true) {
        show(page);
        Duration left = Duration.ofNanos(Math.max(0, due - System.nanoTime()));
        switch (keyboard.next(left)) {
          case QUIT -> {
            return;
          }
          case UP -> page = page.moved(-1);
          case DOWN -> page = page.moved(1);
          case PAGE_UP -> page = page.moved(-page.page());
          case PAGE_DOWN -> page = page.moved(page.page());
          case TOP -> page = page.moved(-page.first());
          case SORT -> page = page.sorted(page.order().next());
          case OTHER, NONE -> {}
        }
        if (Thread.interrupted()) {
          throw new InterruptedException("by Ctrl-C");
        }
        if (System.nanoTime() >= due) {
          page =
              page(cluster, page.order(), page.first(), keyboard.rows(), keyboard.columns())
                  .moved(0);
          due = System.nanoTime() + interval.toNanos();
        }
      }
    } finally {
      print(ControlSequence.of("?25h") + ControlSequence.of("?1049l"));
    }
  }

  private void show(TopPage page) {
    print(ControlSequence.of("H") + ControlSequence.of("2J"));
    new Screen(out, page.columns()).show(page.lines());
  }

  private void print(String sequence) {
    out.print(sequence);
    out.flush();
  }

  private TopPage page(Cluster cluster, TopPage.Order order, int first, int rows, int columns) {
    List<JobView> jobs = cluster.jobs(options.onlyNamespace()).stream().map(JobView::of).toList();
    return new TopPage(jobs, cluster.advice(), order, first, rows, columns, Instant.now());
  }
}
