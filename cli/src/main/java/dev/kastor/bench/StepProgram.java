package dev.kastor.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A contender in a process of its own that speaks lines of JSON: one when its first step is done
 * ({@code library}, {@code device}, {@code parameters}), then one for each line {@code {"seconds":
 * 5}} that it reads ({@link Contender.Window}). It ends when its input does.
 */
final class StepProgram implements Contender {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final Duration GRACE = Duration.ofSeconds(5);
  private static final int LINES_OF_ERROR = 5;

  private final String name;
  private final Process process;
  private final Path errors;
  private final BufferedReader out;
  private final BufferedWriter in;
  private final Start start;

  private StepProgram(String name, ProcessBuilder builder, Path errors)
      throws IOException, BenchException {
    this.name = name;
    this.errors = errors;
    long began = System.nanoTime();
    process = builder.redirectError(errors.toFile()).start();
    out = process.inputReader();
    in = process.outputWriter();
    JsonNode ready = answer();
    double firstStepSeconds = (System.nanoTime() - began) * 1e-9;
    start =
        new Start(
            ready.path("library").asText(name),
            ready.path("device").asText(),
            ready.path("parameters").asLong(),
            firstStepSeconds);
  }

  /**
   * Starts a program and waits for its first step.
   *
   * @param name to call it in messages
   * @param environment variables beside those of this process
   */
  static StepProgram start(String name, List<String> command, Map<String, String> environment)
      throws BenchException {
    @Nullable Path errors = null;
    try {
      errors = Files.createTempFile("kastor-bench", ".log");
      ProcessBuilder builder = new ProcessBuilder(command);
      builder.environment().putAll(environment);
      return new StepProgram(name, builder, errors);
    } catch (IOException e) {
      delete(errors);
      throw new BenchException("%s cannot be started: %s".formatted(name, e.getMessage()));
    } catch (BenchException e) {
      delete(errors);
      throw e;
    }
  }

  @Override
  public Start started() {
    return start;
  }

  @Override
  public Window measure(double seconds) throws BenchException {
    try {
      in.write(MAPPER.createObjectNode().put("seconds", seconds).toString());
      in.newLine();
      in.flush();
      return Window.of(answer());
    } catch (IOException e) {
      throw new BenchException("%s went away: %s".formatted(name, e.getMessage()));
    }
  }

  private JsonNode answer() throws IOException, BenchException {
    String line = out.readLine();
    if (line == null) {
      List<String> said = Files.readAllLines(errors);
      throw new BenchException(
          "%s ended before it answered: %s"
              .formatted(
                  name,
                  String.join(
                      "\n", said.subList(Math.max(0, said.size() - LINES_OF_ERROR), said.size()))));
    }
    return MAPPER.readTree(line);
  }

  private static void delete(@Nullable Path file) {
    if (file != null) {
      // In the folder for temporary files; nothing depends on whether it goes now.
      file.toFile().delete();
    }
  }

  @Override
  public void close() {
    try (out;
        in) {
      in.close();
      if (!process.waitFor(GRACE)) {
        process.destroyForcibly();
      }
    } catch (IOException e) {
      process.destroyForcibly();
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    } finally {
      delete(errors);
    }
  }
}
