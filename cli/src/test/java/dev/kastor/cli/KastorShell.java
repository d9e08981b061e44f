package dev.kastor.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Process that runs {@code kastor} commands one after the other, for tests of what commands do: a
 * JVM for all of them rather than for each. Its variables are those of the launcher, which a test's
 * own process does not have. Commands that are ended by signals need a {@link KastorProcess}.
 */
public final class KastorShell implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Against commands that never end. */
  private static final long PATIENCE_MINUTES = 10;

  /** No answer, but the end of all of them. */
  private static final String ENDED = "";

  /** Options of the launcher, without which the JVM warns of Netty. */
  private static final List<String> AS_LAUNCHED =
      List.of("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow");

  private final Path home;
  private final Path folder;
  private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
  private @Nullable Process process;
  private @Nullable BufferedWriter questions;
  private @Nullable Path log;
  private String said = "";

  /**
   * A shell that starts with its first command.
   *
   * @param home its {@code KASTOR_HOME}
   * @param folder its working folder
   */
  public KastorShell(Path home, Path folder) {
    this.home = home;
    this.folder = folder;
  }

  /**
   * What came of a command.
   *
   * @param text what it said, errors included, in the order in which it said it
   */
  public record Result(int code, String text) {}

  /** Runs a command to its end. */
  public Result run(String... arguments) {
    try {
      BufferedWriter to = questions == null ? start() : questions;
      to.write(JSON.writeValueAsString(arguments));
      to.newLine();
      to.flush();
      String answer = answers.poll(PATIENCE_MINUTES, TimeUnit.MINUTES);
      assertThat(answer)
          .as("%s in a process whose errors are in %s", List.of(arguments), log)
          .isNotNull()
          .isNotEqualTo(ENDED);
      Result result = JSON.readValue(answer, Result.class);
      said = result.text();
      return result;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Runs a command that must succeed, and returns what it said. */
  public String succeed(String... arguments) {
    Result result = run(arguments);
    assertThat(result.code()).as("%s: %s", List.of(arguments), result.text()).isZero();
    return result.text();
  }

  /** What the last command said. */
  public String said() {
    return said;
  }

  private BufferedWriter start() throws IOException {
    ProcessBuilder builder = KastorProcess.builder(home, AS_LAUNCHED);
    builder.command().removeLast();
    builder.command().add(Server.class.getName());
    builder.environment().put("NO_COLOR", "1");
    log = Files.createTempFile("kastor-shell", ".log");
    Process started = builder.directory(folder.toFile()).redirectError(log.toFile()).start();
    process = started;
    Thread.ofVirtual()
        .start(() -> {
          started.inputReader(StandardCharsets.UTF_8).lines().forEach(answers::add);
          answers.add(ENDED);
        });
    questions = started.outputWriter(StandardCharsets.UTF_8);
    return questions;
  }

  @Override
  public void close() {
    Process last = process;
    if (last != null) {
      last.destroy();
      last.onExit().join();
    }
    try {
      if (log != null) {
        Files.delete(log);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Main class of the process: a line of arguments in, a line with their result out. */
  static final class Server {
    private Server() {}

    public static void main(String[] none) throws IOException {
      PrintStream answers = System.out;
      System.setOut(System.err);
      StringWriter text = new StringWriter();
      BufferedReader questions =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      for (String line = questions.readLine(); line != null; line = questions.readLine()) {
        int code = Kastor.run(text, text, JSON.readValue(line, String[].class));
        answers.println(JSON.writeValueAsString(new Result(code, text.toString())));
        text.getBuffer().setLength(0);
      }
    }
  }
}
