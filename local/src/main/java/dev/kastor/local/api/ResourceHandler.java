package dev.kastor.local.api;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.time.InstantSource;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Turns HTTP requests on objects and collections into calls of {@link Resources}. */
final class ResourceHandler {
  private static final long MAX_WATCH_SECONDS = 3600;

  private final Resources resources;
  private final PodLogs logs;

  ResourceHandler(Resources resources, PodLogs logs) {
    this.resources = resources;
    this.logs = logs;
  }

  void handle(Route route, Exchange exchange) throws IOException, InterruptedException {
    if (route.subresource().equals("log") && route.type().equals(ResourceTypes.POD)) {
      log(route, exchange);
    } else if (!route.subresource().isEmpty() && !route.subresource().equals("status")) {
      throw unknown(exchange);
    } else if (route.name().isEmpty()) {
      collection(route, exchange);
    } else {
      object(route, exchange);
    }
  }

  private void collection(Route route, Exchange exchange) throws IOException, InterruptedException {
    switch (exchange.method()) {
      case "GET" -> {
        if (exchange.query().is("watch")) {
          watch(route, exchange);
        } else {
          exchange.answer(200, view(route, exchange).apply(list(route, exchange.query())));
        }
      }
      case "POST" -> {
        ObjectNode body = exchange.object();
        String namespace = namespace(route, body);
        exchange.answer(
            201, resources.create(route.type(), namespace, body, options(route, exchange)));
      }
      case "DELETE" -> {
        Deletion deletion = deletion(exchange);
        ObjectNode list = list(route, exchange.query());
        list.path("items")
            .forEach(o ->
                resources.delete(
                    route.type(),
                    Json.namespace((ObjectNode) o),
                    Json.name((ObjectNode) o),
                    deletion));
        exchange.answer(200, list);
      }
      default -> throw notAllowed(exchange);
    }
  }

  private void object(Route route, Exchange exchange) throws IOException {
    ResourceType type = route.type();
    String namespace = route.namespace();
    String name = route.name();
    ObjectNode answer =
        switch (exchange.method()) {
          case "GET" -> view(route, exchange).apply(resources.get(type, namespace, name));
          case "PUT" -> {
            ObjectNode body = exchange.object();
            String named = Json.meta(body, "name");
            if (named != null && !named.equals(name)) {
              throw ApiException.badRequest(
                  "the name of the object (%s) does not match the name on the URL (%s)"
                      .formatted(named, name));
            }
            yield resources.update(type, namespace, name, body, options(route, exchange));
          }
          case "PATCH" -> {
            Patch patch = Patch.of(exchange.contentType());
            Options options = options(route, exchange);
            String manager = exchange.query().get("fieldManager");
            yield resources.patch(
                type,
                namespace,
                name,
                patch,
                Patch.parse(exchange.bytes()),
                patch == Patch.APPLY
                    ? new Options(options.status(), options.strict(), options.dryRun(), manager)
                    : options);
          }
          case "DELETE" -> resources.delete(type, namespace, name, deletion(exchange));
          default -> throw notAllowed(exchange);
        };
    exchange.answer(200, answer);
  }

  private ObjectNode list(Route route, Query query) {
    Predicate<ObjectNode> wanted = wanted(route, query);
    return resources
        .store()
        .atomically(() -> {
          ObjectNode list = Json.object();
          list.put("kind", route.type().kind() + "List");
          list.put("apiVersion", route.type().apiVersion());
          list.putObject("metadata")
              .put("resourceVersion", Long.toString(resources.store().revision()));
          ArrayNode items = list.putArray("items");
          resources.list(route.type(), route.namespace()).stream()
              .filter(wanted)
              .forEach(items::add);
          return list;
        });
  }

  private void watch(Route route, Exchange exchange) throws IOException, InterruptedException {
    if (exchange.wantsWebSocket()) {
      // Clients that try a WebSocket first take 200 as "use a plain GET instead".
      exchange.answer(200, Json.object());
      return;
    }
    Query query = exchange.query();
    String from = query.get("resourceVersion");
    boolean initial = query.is("sendInitialEvents");
    boolean all = initial || from == null || from.isEmpty() || from.equals("0");
    @Nullable Long revision = all ? null : Long.valueOf(query.number("resourceVersion", 0));
    long seconds = Math.min(query.number("timeoutSeconds", MAX_WATCH_SECONDS), MAX_WATCH_SECONDS);
    try (OutputStream out = exchange.stream("application/json")) {
      new Watch(
              resources.store(),
              route.type(),
              wanted(route, query),
              query.is("allowWatchBookmarks"),
              view(route, exchange),
              out)
          .run(revision, initial, Duration.ofSeconds(seconds));
    }
  }

  /** Objects as they are, or as a table where the client wants one and the type has columns. */
  private UnaryOperator<ObjectNode> view(Route route, Exchange exchange) {
    if (!exchange.wantsTable()) {
      return UnaryOperator.identity();
    }
    return resources
        .custom(route.type())
        .map(CustomType::columns)
        .filter(columns -> !columns.isEmpty())
        .<UnaryOperator<ObjectNode>>map(columns -> new Table(columns, InstantSource.system())::of)
        .orElse(UnaryOperator.identity());
  }

  private void log(Route route, Exchange exchange) throws IOException, InterruptedException {
    resources.get(ResourceTypes.POD, route.namespace(), route.name());
    Query query = exchange.query();
    try (OutputStream out = exchange.stream("text/plain")) {
      new LogStream(
              resources,
              route.namespace(),
              route.name(),
              logs.file(route.namespace(), route.name()))
          .copy(out, query.is("follow"), query.number("tailLines", -1));
    }
  }

  private static Predicate<ObjectNode> wanted(Route route, Query query) {
    Predicate<ObjectNode> inNamespace =
        o -> route.namespace().isEmpty() || Json.namespace(o).equals(route.namespace());
    return inNamespace.and(Selector.of(query.get("labelSelector"), query.get("fieldSelector")));
  }

  private static String namespace(Route route, ObjectNode body) {
    if (!route.type().namespaced()) {
      return "";
    }
    String own = Json.meta(body, "namespace");
    if (route.namespace().isEmpty()) {
      throw ApiException.badRequest(
          "%s live in a namespace: post to .../namespaces/NAME/%s"
              .formatted(route.type().plural(), route.type().plural()));
    }
    if (own != null && !own.equals(route.namespace())) {
      throw ApiException.badRequest(
          "the namespace of the provided object does not match the namespace sent on the request");
    }
    return route.namespace();
  }

  private static Options options(Route route, Exchange exchange) {
    Query query = exchange.query();
    return new Options(
        route.subresource().equals("status"),
        "Strict".equals(query.get("fieldValidation")),
        query.values().containsKey("dryRun"),
        null);
  }

  private static Deletion deletion(Exchange exchange) throws IOException {
    return Deletion.of(
        exchange.object(),
        exchange.query().get("gracePeriodSeconds"),
        exchange.query().get("propagationPolicy"));
  }

  private static ApiException notAllowed(Exchange exchange) {
    return ApiException.of(
        405, "MethodNotAllowed", exchange.method() + " is not possible on " + exchange.path());
  }

  private static ApiException unknown(Exchange exchange) {
    return ApiException.of(
        404, "NotFound", "the server could not find the requested resource " + exchange.path());
  }
}
