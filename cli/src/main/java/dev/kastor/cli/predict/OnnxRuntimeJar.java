package dev.kastor.cli.predict;

import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.traces.AtomicFile;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Jar of ONNX Runtime (MIT licence), which is in no release because of its size. The launcher puts
 * it on the class path where it is in the user's cache.
 */
final class OnnxRuntimeJar {
  /** The version in the root {@code pom.xml} and in the launcher. */
  static final String NAME = "onnxruntime-1.28.0.jar";

  private static final String SHA_256 =
      "3a9dc00bed7ee467ded8a257f99fc216570d385f8b06053570d33e9b5d7c7a37";
  private static final URI SOURCE =
      URI.create(
          "https://repo.maven.apache.org/maven2/com/microsoft/onnxruntime/onnxruntime/1.28.0/"
              + NAME);
  private static final String SOME_CLASS = "ai/onnxruntime/OrtEnvironment.class";
  private static final int OK = 200;
  private static final Duration CONNECT = Duration.ofSeconds(20);
  private static final Duration WHOLE = Duration.ofMinutes(20);

  private OnnxRuntimeJar() {}

  /** True if the classes of ONNX Runtime can be loaded. */
  static boolean isThere() {
    return OnnxRuntimeJar.class.getClassLoader().getResource(SOME_CLASS) != null;
  }

  /** Path at which the launcher looks for the jar. */
  static Path place(Map<String, String> environment) {
    String caches = environment.getOrDefault("XDG_CACHE_HOME", "");
    Path root =
        caches.isEmpty()
            ? Path.of(environment.getOrDefault("HOME", System.getProperty("user.home")), ".cache")
            : Path.of(caches);
    return root.resolve("kastor").resolve("onnxruntime").resolve(NAME);
  }

  /** Downloads it from Maven Central, compares its checksum and puts it in its place. */
  static void install(Path place) {
    byte[] jar;
    try (HttpClient client =
        HttpClient.newBuilder()
            .connectTimeout(CONNECT)
            .followRedirects(HttpClient.Redirect.NORMAL)
            .build()) {
      HttpResponse<byte[]> answer =
          client.send(
              HttpRequest.newBuilder(SOURCE).timeout(WHOLE).build(),
              HttpResponse.BodyHandlers.ofByteArray());
      if (answer.statusCode() != OK) {
        throw failed(place, "the server answered " + answer.statusCode(), null);
      }
      jar = answer.body();
    } catch (IOException e) {
      throw failed(place, String.valueOf(e.getMessage()), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw failed(place, "it was interrupted", e);
    }
    put(jar, place);
  }

  static void put(byte[] jar, Path place) {
    String sum;
    try {
      sum = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(jar));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has it", e);
    }
    if (!sum.equals(SHA_256)) {
      throw failed(place, "its checksum is %s and not %s".formatted(sum, SHA_256), null);
    }
    try {
      AtomicFile.write(place, jar);
    } catch (IOException e) {
      throw failed(place, String.valueOf(e.getMessage()), e);
    }
  }

  private static CliException failed(Path place, String why, @Nullable Exception cause) {
    String message =
        "ONNX Runtime could not be installed from %s: %s. Without a network put that file at %s"
            .formatted(SOURCE, why, place);
    return cause == null
        ? new CliException(ExitCode.FAILED, message)
        : new CliException(ExitCode.FAILED, message, cause);
  }
}
