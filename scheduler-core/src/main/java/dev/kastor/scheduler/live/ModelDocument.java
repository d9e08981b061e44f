package dev.kastor.scheduler.live;

import dev.kastor.protocol.GradientStats;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.LayoutFactors;
import dev.kastor.scheduler.goodput.ThroughputParams;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.NavigableMap;
import java.util.SequencedMap;
import java.util.TreeMap;

/**
 * Goodput model in a {@link LiveDocument}.
 *
 * @param types what is known of each GPU type; of all, where the type is empty
 * @param gradient newest noise statistics
 */
public record ModelDocument(List<TypeDocument> types, GradientStats gradient) {
  /**
   * What is known of one GPU type.
   *
   * @param factors corrections of layouts that were observed; none where the fit holds
   * @param otherwise corrections of other layouts
   */
  public record TypeDocument(
      String gpuType,
      ThroughputParams params,
      List<FactorDocument> factors,
      List<OtherDocument> otherwise) {
    public TypeDocument {
      factors = List.copyOf(factors);
      otherwise = List.copyOf(otherwise);
    }
  }

  /** Measured over fitted step time of one layout. */
  public record FactorDocument(int nodes, int replicas, double factor) {}

  /** The same of layouts of so many replicas or more that are not listed. */
  public record OtherDocument(int replicas, double factor) {}

  public ModelDocument {
    types = List.copyOf(types);
  }

  static ModelDocument of(GoodputModel model) {
    List<TypeDocument> types = new ArrayList<>();
    model
        .paramsByType()
        .forEach((type, params) -> {
          LayoutFactors factors = model.factorsByType().getOrDefault(type, LayoutFactors.NONE);
          List<FactorDocument> byLayout = new ArrayList<>();
          factors
              .byLayout()
              .forEach((layout, factor) ->
                  byLayout.add(new FactorDocument(layout.nodes(), layout.replicas(), factor)));
          List<OtherDocument> otherwise = new ArrayList<>();
          factors
              .otherwise()
              .forEach((replicas, factor) -> otherwise.add(new OtherDocument(replicas, factor)));
          types.add(new TypeDocument(type, params, byLayout, otherwise));
        });
    return new ModelDocument(types, model.gradient());
  }

  GoodputModel model() {
    SequencedMap<String, ThroughputParams> params = new LinkedHashMap<>();
    SequencedMap<String, LayoutFactors> factors = new LinkedHashMap<>();
    for (TypeDocument type : types) {
      params.put(type.gpuType, type.params);
      SequencedMap<LayoutFactors.Layout, Double> byLayout = new LinkedHashMap<>();
      type.factors.forEach(
          each -> byLayout.put(new LayoutFactors.Layout(each.nodes, each.replicas), each.factor));
      NavigableMap<Integer, Double> otherwise = new TreeMap<>();
      type.otherwise.forEach(each -> otherwise.put(each.replicas, each.factor));
      if (!byLayout.isEmpty() || !otherwise.isEmpty()) {
        factors.put(type.gpuType, new LayoutFactors(byLayout, otherwise));
      }
    }
    return new GoodputModel(params, factors, gradient);
  }
}
