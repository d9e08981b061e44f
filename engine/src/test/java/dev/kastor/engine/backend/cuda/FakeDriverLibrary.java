package dev.kastor.engine.backend.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.kastor.testkit.Programs;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** A library under the name of NVIDIA's driver, whose functions are methods of a FakeDriver. */
@SuppressWarnings("restricted") // Native code is to call them.
final class FakeDriverLibrary {
  /** As driver.c numbers them. */
  private static final String[] METHODS = {
    "init",
    "version",
    "count",
    "device",
    "name",
    "total",
    "attribute",
    "retain",
    "setCurrent",
    "streamCreate",
    "streamDestroy",
    "streamSynchronize",
    "allocate",
    "free",
    "memoryInfo",
    "moduleLoad",
    "moduleUnload",
    "function",
    "beginCapture",
    "endCapture",
    "instantiate",
    "graphDestroy",
    "graphLaunch",
    "executableDestroy",
    "copyIn",
    "copyOut",
    "launch",
    "eventCreate",
    "eventDestroy",
    "eventRecord",
    "waitEvent",
    "streamQuery"
  };

  private FakeDriverLibrary() {}

  /** Compiles and loads it; where there is no compiler, as {@link Programs#compilerOfC} says. */
  static void load(Path folder, FakeDriver driver, FakeLibrary.Access access)
      throws IOException, InterruptedException {
    Path source = folder.resolve("driver.c");
    try (var text = FakeDriver.class.getResourceAsStream("driver.c")) {
      Files.write(source, text.readAllBytes());
    }
    Path library = folder.resolve("libcuda.so.1");
    Process compiler =
        new ProcessBuilder(
                Programs.compilerOfC().toString(),
                "-shared",
                "-fPIC",
                "-Wl,-soname,libcuda.so.1",
                "-o",
                library.toString(),
                source.toString())
            .inheritIO()
            .start();
    if (compiler.waitFor() != 0) {
      throw new IllegalStateException("The library cannot be compiled.");
    }
    // From now on whoever needs libcuda.so.1 gets this one.
    System.load(library.toString());
    connect(SymbolLookup.libraryLookup(library, Arena.global()), driver, access);
  }

  private static void connect(SymbolLookup library, FakeDriver driver, FakeLibrary.Access access) {
    MethodHandle set =
        Linker.nativeLinker()
            .downcallHandle(
                library.find("kastor_driver_set").orElseThrow(),
                FunctionDescriptor.ofVoid(JAVA_INT, ADDRESS));
    for (int i = 0; i < METHODS.length; i++) {
      try {
        set.invokeExact(i, FakeLibrary.stub(driver, access, method(METHODS[i])));
      } catch (Throwable e) {
        throw new IllegalStateException(METHODS[i], e);
      }
    }
  }

  private static Method method(String name) {
    return Arrays.stream(FakeDriver.class.getDeclaredMethods())
        .filter(method -> method.getName().equals(name))
        .findFirst()
        .orElseThrow();
  }
}
