package dev.kastor.operator;

import io.quarkus.arc.Arc;
import io.vertx.ext.web.Router;
import jakarta.enterprise.inject.Any;
import jakarta.enterprise.inject.spi.Bean;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.NullUnmarked;

/** All that the running operator serves, found in the operator itself, as {@code METHOD path}. */
// As in the operator's other tests.
@NullUnmarked
final class Routes {
  private static final java.nio.file.Path PAGE =
      java.nio.file.Path.of("target", "classes", "META-INF", "resources");

  private Routes() {}

  /** What resource classes serve. */
  static Set<String> ofResources() {
    Set<String> found = new TreeSet<>();
    for (Bean<?> bean :
        Arc.container().beanManager().getBeans(Object.class, Any.Literal.INSTANCE)) {
      Path root = bean.getBeanClass().getAnnotation(Path.class);
      if (root != null) {
        Stream.of(bean.getBeanClass().getMethods())
            .filter(method -> verb(method) != null)
            .map(method -> verb(method) + " " + root.value() + below(method))
            .forEach(found::add);
      }
    }
    return found;
  }

  /** What extensions serve at paths of their own; one that ends in a star is a tree of them. */
  static Set<String> ofExtensions(Router router) {
    return router.getRoutes().stream()
        .filter(route -> route.getPath() != null && route.getPath().length() > 1)
        .map(route -> "GET " + route.getPath() + (route.isExactPath() ? "" : "*"))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** The files of the page. */
  static List<String> ofPage() throws IOException {
    try (Stream<java.nio.file.Path> files = Files.walk(PAGE)) {
      return files
          .filter(Files::isRegularFile)
          .map(file -> "GET /" + PAGE.relativize(file).toString().replace('\\', '/'))
          .sorted()
          .toList();
    }
  }

  private static String verb(Method method) {
    if (method.isAnnotationPresent(GET.class)) {
      return "GET";
    }
    return method.isAnnotationPresent(POST.class) ? "POST" : null;
  }

  private static String below(Method method) {
    Path path = method.getAnnotation(Path.class);
    return path == null ? "" : path.value();
  }
}
