package dev.kastor.engine.backend.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Methods of an object as the functions of a native library. */
@SuppressWarnings("restricted") // Native code is to call them.
final class FakeLibrary {
  /** A structure of NCCL's, which is handed over by value. */
  @Retention(RetentionPolicy.RUNTIME)
  @Target(ElementType.PARAMETER)
  @interface UniqueId {}

  /** Private methods are seen by a lookup of their own class only. */
  interface Access {
    MethodHandle handle(Method method) throws IllegalAccessException;
  }

  private FakeLibrary() {}

  /**
   * A library whose functions are the methods with names that begin so.
   *
   * @param missing one that it lacks, or empty
   */
  static NativeLibrary of(
      Object object, Access access, String name, String prefix, String missing) {
    Map<String, MemorySegment> functions = new HashMap<>();
    for (Method method : object.getClass().getDeclaredMethods()) {
      if (method.getName().startsWith(prefix) && !method.getName().equals(missing)) {
        functions.put(method.getName(), stub(object, access, method));
      }
    }
    return new NativeLibrary(name, symbol -> Optional.ofNullable(functions.get(symbol)));
  }

  /** A method as a function that native code can call. */
  static MemorySegment stub(Object object, Access access, Method method) {
    MemoryLayout[] parameters =
        Arrays.stream(method.getParameters()).map(FakeLibrary::layout).toArray(MemoryLayout[]::new);
    try {
      return Linker.nativeLinker()
          .upcallStub(
              access.handle(method).bindTo(object),
              FunctionDescriptor.of(layout(method.getReturnType()), parameters),
              Arena.global());
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
  }

  private static MemoryLayout layout(Parameter parameter) {
    return parameter.isAnnotationPresent(UniqueId.class)
        ? NcclFunctions.ID
        : layout(parameter.getType());
  }

  private static MemoryLayout layout(Class<?> type) {
    if (type == int.class) {
      return JAVA_INT;
    }
    return type == long.class ? JAVA_LONG : ADDRESS;
  }
}
