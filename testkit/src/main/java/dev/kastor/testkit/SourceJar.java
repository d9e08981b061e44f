package dev.kastor.engine.program;

import java.io.IOException;
import java.io.OutputStream;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/** Makes jars of sources as a project of its own would. */
public final class TestJar {
  private static final String SERVICES = "META-INF/services/dev.kastor.engine.train.Program";

  private TestJar() {}

  /**
   * Compiles sources against what this test runs with.
   *
   * @param services classes to name as programs
   */
  public static void make(Path jar, List<Path> sources, List<String> services) throws IOException {
    Path classes = Files.createTempDirectory("classes");
    try {
      make(jar, sources, services, classes);
    } finally {
      try (Stream<Path> all = Files.walk(classes)) {
        for (Path file : all.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }

  private static void make(Path jar, List<Path> sources, List<String> services, Path classes)
      throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter said = new StringWriter();
    try (var files = compiler.getStandardFileManager(null, null, null)) {
      List<String> options =
          List.of("-cp", System.getProperty("java.class.path"), "-d", classes.toString());
      boolean compiled =
          compiler
              .getTask(said, files, null, options, null, files.getJavaFileObjectsFromPaths(sources))
              .call();
      if (!compiled) {
        throw new IOException(said.toString());
      }
    }
    try (OutputStream out = Files.newOutputStream(jar);
        JarOutputStream entries = new JarOutputStream(out);
        Stream<Path> all = Files.walk(classes)) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        entries.putNextEntry(new JarEntry(classes.relativize(file).toString()));
        entries.write(Files.readAllBytes(file));
      }
      entries.putNextEntry(new JarEntry(SERVICES));
      entries.write(String.join("\n", new ArrayList<>(services)).getBytes(StandardCharsets.UTF_8));
    }
  }
}
