package dev.kastor.simulator.report;

import java.awt.Color;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SequencedMap;
import java.util.stream.DoubleStream;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.markers.SeriesMarkers;

/**
 * Mean completion times over the load as a PNG picture, a line in a colour of its own for each
 * policy.
 */
public final class LoadChart {
  private static final List<Color> COLOURS =
      List.of(
          new Color(0xc62828),
          new Color(0xef8a3c),
          new Color(0x1f4e9c),
          new Color(0x9aa0a6),
          new Color(0x7466bd),
          new Color(0x96862a),
          new Color(0x2f8f75),
          new Color(0x37a6d9),
          new Color(0xab4f86),
          new Color(0x6d4c2f));

  private static final float OWN_WIDTH = 3.5f;
  private static final float OTHER_WIDTH = 2;

  /** Room for a factor of two on the vertical axis. */
  private static final int DOUBLING_PIXELS = 90;

  private LoadChart() {}

  /**
   * Draws it.
   *
   * @param loads rising, at least two
   * @param hours mean completion time at each load, by the name of the line; not a number where
   *     there is none
   * @param own how many of the first lines are drawn stronger
   */
  public static void write(
      Path file, String title, double[] loads, SequencedMap<String, double[]> hours, int own)
      throws IOException {
    // Without a screen, whatever the environment says.
    System.setProperty("java.awt.headless", "true");
    XYChart chart =
        Charts.chart(
            title, "load (arrivals over those of load 1)", "mean job completion time, hours");
    // The library's logarithmic axis names powers of ten only, of which there is one here.
    double least = hours.values().stream().flatMapToDouble(LoadChart::known).min().orElse(1);
    double most = hours.values().stream().flatMapToDouble(LoadChart::known).max().orElse(1);
    chart.getStyler().setYAxisMin(Math.floor(log2(least))).setYAxisMax(Math.ceil(log2(most)));
    chart.getStyler().setYAxisTickMarkSpacingHint(DOUBLING_PIXELS);
    chart
        .getStyler()
        .setYAxisTickLabelsFormattingFunction(
            power -> String.format(Locale.ROOT, "%.2g", Math.pow(2, power)));
    chart.getStyler().setXAxisDecimalPattern("0.0");
    chart.getStyler().setXAxisTickMarkSpacingHint(120);
    int line = 0;
    for (Map.Entry<String, double[]> entry : hours.entrySet()) {
      if (known(entry.getValue()).findAny().isEmpty()) {
        line++;
        continue;
      }
      XYSeries series =
          chart.addSeries(
              entry.getKey(),
              loads,
              Arrays.stream(entry.getValue()).map(LoadChart::log2).toArray());
      Color colour = COLOURS.get(line % COLOURS.size());
      series.setLineColor(colour);
      series.setMarkerColor(colour);
      series.setMarker(SeriesMarkers.CIRCLE);
      series.setLineWidth(line < own ? OWN_WIDTH : OTHER_WIDTH);
      line++;
    }
    Charts.png(file, chart);
  }

  private static DoubleStream known(double[] values) {
    return Arrays.stream(values).filter(value -> !Double.isNaN(value));
  }

  private static double log2(double hours) {
    return Math.log(hours) / Math.log(2);
  }
}
