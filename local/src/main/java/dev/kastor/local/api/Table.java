package dev.kastor.local.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;

/**
 * Objects as the rows of a {@code meta.k8s.io/v1} Table, which is what {@code kubectl get} asks for
 * and prints.
 */
final class Table {
  private static final String DATE = "date";

  private final List<PrinterColumn> columns;
  private final InstantSource clock;

  Table(List<PrinterColumn> columns, InstantSource clock) {
    this.columns = columns;
    this.clock = clock;
  }

  /** Whether an {@code Accept} header asks for tables before anything else. */
  static boolean wanted(String accept) {
    String first = accept.split(",", 2)[0].replace(" ", "");
    return first.startsWith("application/json;") && first.contains("as=Table");
  }

  /** A list of objects, or a single one, as a table. */
  ObjectNode of(ObjectNode answer) {
    ObjectNode table = table();
    JsonNode items = answer.path("items");
    table.set("metadata", items.isArray() ? answer.path("metadata") : metadata(answer));
    ArrayNode rows = table.putArray("rows");
    if (items.isArray()) {
      items.forEach(item -> rows.add(row(item)));
    } else {
      rows.add(row(answer));
    }
    return table;
  }

  private static ObjectNode metadata(ObjectNode object) {
    return Json.object().put("resourceVersion", Json.meta(object, "resourceVersion"));
  }

  private ObjectNode table() {
    ObjectNode table = Json.object().put("kind", "Table").put("apiVersion", "meta.k8s.io/v1");
    ArrayNode definitions = table.putArray("columnDefinitions");
    definition(definitions, "Name", "string", 0).put("format", "name");
    columns.forEach(each -> definition(definitions, each.name(), each.type(), each.priority()));
    return table;
  }

  private static ObjectNode definition(ArrayNode to, String name, String type, int priority) {
    return to.addObject()
        .put("name", name)
        .put("type", type)
        .put("format", "")
        .put("description", "")
        .put("priority", priority);
  }

  private ObjectNode row(JsonNode object) {
    ObjectNode row = Json.object();
    ArrayNode cells = row.putArray("cells").add(object.at("/metadata/name").asText());
    Instant now = clock.instant();
    for (PrinterColumn column : columns) {
      JsonNode value = column.value(object);
      if (value.isMissingNode() || value.isNull()) {
        cells.addNull();
      } else if (column.type().equals(DATE)) {
        cells.add(PrinterColumn.age(value.asText(), now));
      } else if (value.isContainerNode()) {
        cells.add(Json.text(value));
      } else {
        cells.add(value);
      }
    }
    ObjectNode part = row.putObject("object");
    part.put("kind", "PartialObjectMetadata").put("apiVersion", "meta.k8s.io/v1");
    part.set("metadata", object.path("metadata"));
    return row;
  }
}
