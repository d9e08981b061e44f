package dev.kastor.simulator.replay;

import dev.kastor.simulator.replay.ClusterShape.Group;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How a cluster is written: groups {@code TYPE=NODESxGPUS} joined by commas, each followed by any
 * of {@code :price=AMOUNT}, {@code :spot} and {@code :racks=COUNT}. No character of it means
 * anything to a shell.
 */
final class ClusterText {
  private static final Pattern GROUP =
      Pattern.compile("(?:([A-Za-z0-9._-]+)=)?(\\d{1,6})x(\\d{1,4})");
  private static final Pattern PRICE = Pattern.compile("\\d{1,9}(\\.\\d{1,9})?");
  private static final Pattern COUNT = Pattern.compile("[1-9]\\d{0,5}");

  private final String text;

  ClusterText(String text) {
    this.text = text;
  }

  ClusterShape read() {
    List<Group> groups = new ArrayList<>();
    int at = 0;
    for (String part : text.split(",", -1)) {
      groups.add(group(part, at));
      at += part.length() + 1;
    }
    return new ClusterShape(groups);
  }

  private Group group(String part, int start) {
    String[] pieces = part.split(":", -1);
    Matcher matcher = GROUP.matcher(pieces[0].strip());
    if (!matcher.matches()) {
      throw wrong(
          start,
          "'%s' must be NODESxGPUS such as 16x4, or TYPE=NODESxGPUS joined by commas such as aws=6x4,rtx=3x8"
              .formatted(pieces[0]));
    }
    double price = 0;
    boolean spot = false;
    int racks = 0;
    int at = start + pieces[0].length() + 1;
    for (int i = 1; i < pieces.length; i++) {
      String piece = pieces[i].strip();
      int equals = piece.indexOf('=');
      String value = piece.substring(equals + 1);
      if (piece.equals("spot") && !spot) {
        spot = true;
      } else if (piece.startsWith("price=") && price == 0 && PRICE.matcher(value).matches()) {
        price = Double.parseDouble(value);
      } else if (piece.startsWith("racks=") && racks == 0 && COUNT.matcher(value).matches()) {
        racks = Integer.parseInt(value);
      } else {
        throw wrong(
            at,
            "'%s' must be price=AMOUNT (of a node in an hour, such as price=12.24), spot or racks=COUNT, each at most once"
                .formatted(piece));
      }
      at += pieces[i].length() + 1;
    }
    try {
      return new Group(
          matcher.group(1) == null ? "" : matcher.group(1),
          Integer.parseInt(matcher.group(2)),
          Integer.parseInt(matcher.group(3)),
          price,
          spot,
          racks);
    } catch (IllegalArgumentException e) {
      throw wrong(start, String.valueOf(e.getMessage()));
    }
  }

  private IllegalArgumentException wrong(int at, String what) {
    return new IllegalArgumentException(
        "cluster '%s', character %d: %s".formatted(text, at + 1, what));
  }

  static String of(ClusterShape shape) {
    List<String> parts = new ArrayList<>();
    for (Group group : shape.groups()) {
      StringBuilder part = new StringBuilder();
      part.append(group.gpuType()).append(group.gpuType().isEmpty() ? "" : "=");
      part.append(group.nodes()).append('x').append(group.gpusPerNode());
      if (group.pricePerHour() > 0) {
        String price =
            BigDecimal.valueOf(group.pricePerHour()).stripTrailingZeros().toPlainString();
        part.append(":price=").append(price);
      }
      part.append(group.spot() ? ":spot" : "");
      part.append(group.racks() > 0 ? ":racks=" + group.racks() : "");
      parts.add(part.toString());
    }
    return String.join(",", parts);
  }
}
