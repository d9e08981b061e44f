package dev.kastor.engine.backend.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A shared library that a machine may have.
 *
 * @param name under which it was found
 */
@SuppressWarnings("restricted") // Calling what the machine has is the purpose.
record NativeLibrary(String name, SymbolLookup symbols) {
  /** Folders to look in first, separated by colons. */
  static final String FOLDERS = "KASTOR_CUDA_LIBRARIES";

  /**
   * Looks for a library in the folders of the environment, then where the system's loader looks.
   *
   * @param names of its versions, the best first
   * @return the first that loads; null if none does
   */
  static @Nullable NativeLibrary find(List<String> names) {
    return find(names, System.getenv(FOLDERS));
  }

  static @Nullable NativeLibrary find(List<String> names, @Nullable String folders) {
    List<String> all = folders == null ? List.of() : List.of(folders.split(":", -1));
    return all.stream()
        .filter(folder -> !folder.isEmpty())
        .flatMap(folder -> names.stream().map(name -> in(folder, name)))
        .filter(Objects::nonNull)
        .findFirst()
        .orElseGet(() ->
            names.stream()
                .map(NativeLibrary::anywhere)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null));
  }

  private static @Nullable NativeLibrary anywhere(String name) {
    try {
      return new NativeLibrary(name, SymbolLookup.libraryLookup(name, Arena.global()));
    } catch (IllegalArgumentException e) {
      return null; // Not this version, or not here.
    }
  }

  private static @Nullable NativeLibrary in(String folder, String name) {
    try {
      Path file = Path.of(folder).resolve(name);
      return Files.isRegularFile(file)
          ? new NativeLibrary(file.toString(), SymbolLookup.libraryLookup(file, Arena.global()))
          : null;
    } catch (IllegalArgumentException e) {
      return null; // No path, or a library of another kind of machine.
    }
  }

  /** The usual names of some versions of a library. */
  static List<String> names(String base, int... versions) {
    Stream<String> numbered = Arrays.stream(versions).mapToObj(version -> base + ".so." + version);
    return Stream.concat(numbered, Stream.of(base + ".so")).toList();
  }

  /**
   * A function that answers with a status.
   *
   * @throws IllegalStateException if it is missing
   */
  MethodHandle function(String function, MemoryLayout... parameters) {
    return function(function, FunctionDescriptor.of(JAVA_INT, parameters));
  }

  /**
   * A function of any form.
   *
   * @throws IllegalStateException if it is missing
   */
  MethodHandle function(String function, FunctionDescriptor form) {
    MemorySegment address =
        symbols
            .find(function)
            .orElseThrow(() -> new IllegalStateException(function + " is missing."));
    return Linker.nativeLinker().downcallHandle(address, form);
  }
}
