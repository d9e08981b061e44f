package dev.kastor.e2e.cluster;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** Commands, run as a person at a terminal would. */
public final class Shell {
  /** The checkout. */
  public static final Path ROOT = Path.of(System.getProperty("kastor.root", ".")).toAbsolutePath();

  private Shell() {}

  /**
   * What became of a command.
   *
   * @param out what it said on standard output
   * @param err what it said on standard error
   */
  public record Result(List<String> command, int status, String out, String err) {
    /** Its output, if it went well. */
    public String good() {
      if (status != 0) {
        throw new AssertionError(
            "%s ended with %d:%n%s%n%s".formatted(String.join(" ", command), status, out, err));
      }
      return out;
    }
  }

  /** A program with its arguments. */
  public static List<String> command(String program, String... arguments) {
    List<String> command = new ArrayList<>(List.of(program));
    command.addAll(List.of(arguments));
    return command;
  }

  /** Runs a command to its end. */
  public static Result run(String... command) throws IOException, InterruptedException {
    return run(Map.of(), "", List.of(command));
  }

  /**
   * Runs a command to its end.
   *
   * @param environment variables on top of our own
   * @param input what it reads
   */
  public static Result run(Map<String, String> environment, String input, List<String> command)
      throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().putAll(environment);
    Process process = builder.start();
    CompletableFuture<String> err =
        CompletableFuture.supplyAsync(() -> {
          try (var stream = process.getErrorStream()) {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
          } catch (IOException e) {
            return e.toString();
          }
        });
    try (var in = process.getOutputStream()) {
      in.write(input.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      // It did not want to read: what it says shows why.
    }
    String out;
    try (var stream = process.getInputStream()) {
      out = new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    }
    return new Result(command, process.waitFor(), out, err.join());
  }
}
