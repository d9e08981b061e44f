package dev.kastor.paper.engine;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.kastor.paper.PaperException;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Page in a headless browser of this machine, in a folder of its own that goes with it. Its server
 * listens on loopback and has what the page needs; the page says there what it has found.
 */
final class HeadlessPage implements AutoCloseable {
  private static final List<String> BROWSERS =
      List.of("chromium", "chromium-browser", "google-chrome", "google-chrome-stable");
  private static final Duration PATIENCE = Duration.ofMinutes(5);
  private static final int OK = 200;
  private static final int NOT_FOUND = 404;
  private static final String RESULT = "/result";
  private static final String TROUBLE = "/trouble";

  private static final String HTML =
      """
      <!doctype html><meta charset="utf-8"><title>Kastor</title>
      <script type="module">
      const tell = (where, what) => fetch(where, { method: "POST", body: what });
      try {
        const { found } = await import("/run.js");
        await tell("/result", JSON.stringify(await found()));
      } catch (problem) {
        await tell("/trouble", String(problem.stack ?? problem));
      }
      </script>
      """;

  private final Path browser;
  private final Path folder;
  private @Nullable Process process;
  private @Nullable HttpServer server;

  private HeadlessPage(Path browser, Path folder) {
    this.browser = browser;
    this.folder = folder;
  }

  /**
   * A page that shows nothing yet.
   *
   * @throws PaperException if this machine has no Chromium
   */
  static HeadlessPage open() throws PaperException, IOException {
    HeadlessPage page = new HeadlessPage(find(), Files.createTempDirectory("kastor-page"));
    // Ctrl-C closes nothing, and the folder has the profile of a browser in it.
    Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().unstarted(page::end));
    return page;
  }

  private void end() {
    try {
      close();
    } catch (IOException e) {
      // The process ends, and nobody is left to be told.
    }
  }

  private static Path find() throws PaperException {
    @Nullable String named = System.getenv("CHROMIUM");
    if (named != null && !named.isBlank()) {
      if (!Files.isExecutable(Path.of(named))) {
        throw new PaperException("CHROMIUM is %s, which cannot be run.".formatted(named));
      }
      return Path.of(named);
    }
    String path = Optional.ofNullable(System.getenv("PATH")).orElse("");
    for (String folder : path.split(File.pathSeparator, -1)) {
      for (String name : BROWSERS) {
        if (!folder.isEmpty() && Files.isExecutable(Path.of(folder, name))) {
          return Path.of(folder, name);
        }
      }
    }
    throw new PaperException(
        "this paper needs a browser, and there is no Chromium on PATH. Install it (Debian: apt-get"
            + " install chromium) or set CHROMIUM to its program.");
  }

  /** Folder for what the page needs; it is removed with the page. */
  Path folder() {
    return folder;
  }

  /** Name of the browser's program. */
  String browser() {
    return String.valueOf(browser.getFileName());
  }

  /**
   * Runs a function, once.
   *
   * @param script a module that exports the asynchronous function {@code found}
   * @param files by path, as the script fetches and imports them
   * @return what the function returned
   */
  JsonNode run(String script, Map<String, byte[]> files)
      throws PaperException, IOException, InterruptedException {
    CompletableFuture<byte[]> said = new CompletableFuture<>();
    HttpServer serving =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server = serving;
    serving.createContext("/", exchange -> answer(exchange, script, files, said));
    serving.start();
    Process running = start("http://127.0.0.1:%d/".formatted(serving.getAddress().getPort()));
    process = running;
    try {
      Object first =
          CompletableFuture.anyOf(said, running.onExit())
              .get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      if (first instanceof byte[] found) {
        return new ObjectMapper().readTree(found);
      }
      throw new PaperException(
          "%s ended with %d before the page was done".formatted(browser, running.exitValue()));
    } catch (ExecutionException e) {
      throw new PaperException("the page failed: " + String.valueOf(e.getCause()), e);
    } catch (TimeoutException e) {
      throw new PaperException(
          "the page has said nothing for %d minutes".formatted(PATIENCE.toMinutes()), e);
    }
  }

  private Process start(String url) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(browser.toString());
    command.addAll(
        List.of(
            "--headless",
            "--disable-gpu",
            "--disable-background-networking",
            "--no-first-run",
            "--user-data-dir=" + folder.resolve("profile")));
    if ("root".equals(System.getProperty("user.name"))) {
      // Chromium has no sandbox for root; the page is ours and loads nothing from elsewhere.
      command.add("--no-sandbox");
    }
    command.add(url);
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .start();
  }

  private static void answer(
      HttpExchange exchange,
      String script,
      Map<String, byte[]> files,
      CompletableFuture<byte[]> said)
      throws IOException {
    try (exchange) {
      String path = exchange.getRequestURI().getPath();
      byte[] body = exchange.getRequestBody().readAllBytes();
      switch (path) {
        case "/" -> send(exchange, "text/html", HTML.getBytes(StandardCharsets.UTF_8));
        case "/run.js" ->
            send(exchange, "text/javascript", script.getBytes(StandardCharsets.UTF_8));
        case RESULT -> {
          send(exchange, "text/plain", new byte[0]);
          said.complete(body);
        }
        case TROUBLE -> {
          send(exchange, "text/plain", new byte[0]);
          said.completeExceptionally(new IOException(new String(body, StandardCharsets.UTF_8)));
        }
        default -> {
          byte[] file = files.get(path);
          if (file == null) {
            exchange.sendResponseHeaders(NOT_FOUND, -1);
          } else {
            String type = path.endsWith(".js") ? "text/javascript" : "application/octet-stream";
            send(exchange, type, file);
          }
        }
      }
    }
  }

  private static void send(HttpExchange exchange, String type, byte[] body) throws IOException {
    exchange.getResponseHeaders().set("Content-Type", type);
    exchange.sendResponseHeaders(OK, body.length == 0 ? -1 : body.length);
    if (body.length > 0) {
      exchange.getResponseBody().write(body);
    }
  }

  @Override
  public void close() throws IOException {
    Process running = process;
    if (running != null) {
      List<ProcessHandle> children = running.descendants().toList();
      running.destroyForcibly().onExit().join();
      children.forEach(ProcessHandle::destroyForcibly);
      for (ProcessHandle child : children) {
        child.onExit().join();
      }
    }
    HttpServer serving = server;
    if (serving != null) {
      serving.stop(0);
    }
    if (!Files.exists(folder)) {
      return;
    }
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(each);
      }
    }
  }
}
