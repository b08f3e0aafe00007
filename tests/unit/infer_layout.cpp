// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fuse/eval/graph.hpp>
#include <fuse/infer/layout_of.hpp>

#include "../sampled.hpp"
#include "inferred.hpp"

namespace infer_layout {

using fuse::element_type;
using fuse::graph;
using numbers = std::vector<std::int64_t>;

namespace {

graph::value list(graph& g, numbers const& entries) {
  return g.constant(fuse::make_tensor<std::int64_t>({static_cast<std::int64_t>(entries.size())}, entries));
}

/// What is known of a graph, and how its values lie in others.
struct read {
  explicit read(graph& g) : of(g), layouts(of.bound.image, of.known, fuse::dialect_of<graph>) {}

  bool form(graph::value v, graph::value base, fuse::detail::layout& into) {
    return layouts.read(of.id(v), of.id(base), into);
  }
  bool is_beginning(graph::value v, graph::value base) { return layouts.is_beginning(of.id(v), of.id(base)); }
  bool same(graph::value a, graph::value b, graph::value base) {
    fuse::detail::layout x, y;
    return form(a, base, x) && form(b, base, y) && x == y;
  }
  /// "offset; extent:stride extent:stride, ..." of each axis, or "unknown".
  std::string text(graph::value v, graph::value base) {
    fuse::detail::layout made;
    if (!form(v, base, made)) return "unknown";
    auto const print = [&](fuse::detail::polynomial const& p) {
      std::string out;
      for (std::uint32_t i = 0; i < p.count; ++i) {
        out += (i != 0 ? "+" : "") + std::to_string(p.terms[i].factor);
        for (std::uint32_t k = 0; k < p.terms[i].degree; ++k)
          out += of.known.symbols().text(fuse::extent::of_symbol(p.terms[i].atoms[k]));
      }
      return out.empty() ? "0" : out;
    };
    std::string out = print(made.offset()) + ";";
    for (std::uint32_t axis = 0; axis < made.rank(); ++axis) {
      out += axis == 0 ? "" : ",";
      for (auto const& d : made.all())
        if (d.axis == axis) out += " " + print(d.extent) + ":" + print(d.stride);
    }
    return out;
  }

  inferred of;
  fuse::detail::layouts layouts;
};

}  // namespace

TEST_CASE("a layout says where elements come from") {
  graph g;
  auto const x = g.input("x", element_type::float32, {"b", "s", 12});
  auto const heads = g.add("Reshape", {x, list(g, {0, 0, 3, 4})});
  auto const turned = g.add("Transpose", {heads}, {{"perm", {0, 2, 1, 3}}});
  auto const back = g.add("Reshape", {g.add("Transpose", {turned}, {{"perm", {0, 2, 1, 3}}}), list(g, {0, 0, -1})});
  auto const upper = g.add("Slice", {turned, list(g, {2}), list(g, {4}), list(g, {-1})});
  auto const last = g.add("Gather", {x, g.scalar(std::int64_t{-1})}, {{"axis", 2}});
  auto const odd = g.add("Gather", {x, list(g, {1, 3, 5})}, {{"axis", -1}});
  auto const reversed = g.add("Slice", {x, list(g, {-1}), list(g, {-1000000000000}), list(g, {2}), list(g, {-1})});
  auto const repeated = g.add("Concat", {x, x}, {{"axis", -1}});
  for (auto v : {back, upper, last, odd, reversed, repeated}) g.output(v);
  read known(g);
  CHECK(known.text(x, x) == "0; 1b:12s, 1s:12, 12:1");
  CHECK(known.text(turned, x) == "0; 1b:12s, 3:4, 1s:12, 4:1");
  CHECK(known.text(back, x) == known.text(x, x));
  CHECK(known.text(upper, x) == "2; 1b:12s, 3:4, 1s:12, 2:1");
  CHECK(known.text(last, x) == "11; 1b:12s, 1s:12");
  CHECK(known.text(odd, x) == "1; 1b:12s, 1s:12, 3:2");
  CHECK(known.text(reversed, x) == "11; 1b:12s, 1s:12, 12:-1");
  CHECK(known.text(repeated, x) == "0; 1b:12s, 1s:12, 2:0 12:1");
}

TEST_CASE("parts that are neighbours make the whole") {
  graph g;
  auto const x = g.input("x", element_type::float32, {"b", 6});
  auto const parts = g.append("Split", {x, list(g, {2, 4})}, {{"axis", 1}}, 2);
  auto const low = g.result(parts, 0), high = g.result(parts, 1);
  auto const whole = g.add("Concat", {low, high}, {{"axis", 1}});
  auto const turned = g.add("Concat", {high, low}, {{"axis", 1}});
  auto const halves = g.append("Split", {x}, {{"axis", 1}, {"num_outputs", 2}}, 2);
  auto const swapped = g.add("Concat", {g.result(halves, 1), g.result(halves, 0)}, {{"axis", -1}});
  auto const other = g.add("Concat", {low, g.add("Relu", {high})}, {{"axis", 1}});
  for (auto v : {whole, turned, swapped, other}) g.output(v);
  read known(g);
  CHECK(known.text(whole, x) == "0; 1b:6, 6:1");
  CHECK(known.text(turned, x) == "unknown");
  CHECK(known.text(swapped, x) == "3; 1b:6, 2:-3 3:1");
  CHECK(known.text(other, x) == "unknown");
}

TEST_CASE("blocks move between depth and space") {
  graph g;
  auto const x = g.input("x", element_type::float32, {"b", 8, "h", 3});
  auto const wide = g.add("DepthToSpace", {x}, {{"blocksize", 2}});
  auto const back = g.add("SpaceToDepth", {wide}, {{"blocksize", 2}});
  auto const column = g.add("DepthToSpace", {x}, {{"blocksize", 2}, {"mode", "CRD"}});
  g.output(back);
  g.output(column);
  read known(g);
  CHECK(known.same(back, x, x));
  CHECK(known.text(wide, x) == "0; 1b:24h, 2:3h, 1h:3 2:12h, 3:1 2:6h");
  CHECK_FALSE(known.same(column, wide, x));
}

TEST_CASE("a further result is no layout of the operand") {
  graph g;
  auto const x = g.input("x", element_type::float32, {"b", 4});
  auto const dropped = g.append("Dropout", {x}, {}, 2);
  auto const kept = g.result(dropped, 0), mask = g.result(dropped, 1);
  g.output(kept);
  g.output(mask);
  read known(g);
  CHECK(known.same(kept, x, x));
  CHECK(known.text(mask, x) == "unknown");
}

TEST_CASE("what is not proven is no layout") {
  graph g;
  auto const x = g.input("x", element_type::float32, {"b", "s", 12});
  auto const parted = g.add("Reshape", {x, list(g, {0, 5, -1, 12})});
  auto const across =
      g.add("Slice", {g.add("Transpose", {g.add("Reshape", {x, list(g, {0, 0, 3, 4})})}, {{"perm", {0, 1, 3, 2}}}),
                      list(g, {1}), list(g, {3}), list(g, {3})});
  auto const flat =
      g.add("Reshape", {g.add("Transpose", {g.add("Reshape", {x, list(g, {0, 0, 3, 4})})}, {{"perm", {0, 1, 3, 2}}}),
                        list(g, {0, 0, 12})});
  auto const cut = g.add("Slice", {flat, list(g, {2}), list(g, {7}), list(g, {2})});
  auto const far = g.add("Slice", {x, list(g, {-3}), list(g, {1000000000000}), list(g, {1})});
  auto const at_run_time = g.add("Gather", {x, g.input("i", element_type::int64, {4})}, {{"axis", 2}});
  auto const uneven = g.add("Gather", {x, list(g, {0, 1, 3})}, {{"axis", 2}});
  auto const unknown = g.add("Reshape", {g.input("u", element_type::float32), list(g, {4, -1})});
  for (auto v : {parted, across, cut, far, at_run_time, uneven, unknown}) g.output(v);
  read known(g);
  CHECK(known.text(parted, x) == "unknown");
  CHECK(known.of.known.symbols().text(fuse::extent::of_symbol(known.layouts.unproven().terms[0].atoms[0])) != "b");
  CHECK(known.text(across, x) == "4; 1b:12s, 1s:12, 4:1, 2:4");
  CHECK(known.text(flat, x) == "0; 1b:12s, 1s:12, 4:1 3:4");
  CHECK(known.text(cut, x) == "unknown");
  CHECK(known.text(far, x) == "unknown");  // of two there are no three: it would begin elsewhere
  CHECK(known.text(at_run_time, x) == "unknown");
  CHECK(known.text(uneven, x) == "unknown");
  CHECK(known.text(unknown, unknown) == "0; 4:1?0, 1?0:1");
}

namespace {

/// Random chains over one input; each axis is a list of factors, none of which a reshape parts.
class chains {
 public:
  explicit chains(std::uint64_t seed) : random_(seed) {
    base = g.input("x", element_type::float32, {"a", 4, "b", 6, "c"});
    shape_ = g.add("Shape", {base});
  }
  struct factor {
    int axis;  // of the input; -1: a number
    std::int64_t number;
  };
  struct value {
    graph::value v;
    std::vector<std::vector<factor>> axes;
  };

  graph g;
  graph::value base;

  [[nodiscard]] value start() const { return {base, {{{0, 0}}, {{-1, 4}}, {{2, 0}}, {{-1, 6}}, {{4, 0}}}}; }
  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }

  value step(value x) {
    switch (below(11)) {
      case 0: return merged(x);
      case 1: return parted(x);
      case 2: return transposed(x);
      case 3: return with_one(x);
      case 4: return without_ones(x);
      case 5: return flattened(x);
      case 6: return expanded(x);
      case 7: return sliced(x);
      case 8: return gathered(x);
      case 9: return split(x);
      default: return {g.add("Identity", {x.v}), x.axes};
    }
  }
  /// ... and back again: the value is the same.
  value detour(value x) {
    if (below(2) == 0 && x.axes.size() > 1) {
      numbers order = random_order(x.axes.size()), back(order.size());
      for (std::size_t i = 0; i < order.size(); ++i)
        back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
      auto const turned = g.add("Transpose", {x.v}, {{"perm", order}});
      return {g.add("Transpose", {turned}, {{"perm", back}}), x.axes};
    }
    return {g.add("Reshape", {g.add("Reshape", {x.v, list(g, {-1})}), extents(x.axes)}), x.axes};
  }
  /// Any operator that may move elements, with whatever parameters; and the rank of its result.
  std::pair<graph::value, int> any(graph::value v, int rank) {
    auto const number = [&] { return std::int64_t{below(9)} - 4; };
    auto const axis = rank == 0 ? 0 : below(rank);
    switch (rank == 0 ? 1 : below(10)) {
      case 0: return {g.add("Transpose", {v}, {{"perm", random_order(static_cast<std::size_t>(rank))}}), rank};
      case 1: return {g.add("Unsqueeze", {v, list(g, {below(rank + 1)})}), rank + 1};
      case 2: return {g.add("Flatten", {v}, {{"axis", below(rank + 1)}}), 2};
      case 3: return {g.add("Reshape", {v, list(g, {0, -1, 2})}), 3};
      case 4: {
        std::int64_t const far = below(2) == 0 ? 1'000'000'000'000 : number(), step = below(3) == 0 ? -1 : 1 + below(2);
        return {g.add("Slice",
                      {v, list(g, {number()}), list(g, {step < 0 ? -far : far}), list(g, {axis}), list(g, {step})}),
                rank};
      }
      case 5: {
        auto const halves = g.append("Split", {v}, {{"axis", axis}, {"num_outputs", 2}}, 2);
        auto const first = g.result(halves, 0), second = g.result(halves, 1);
        if (below(3) == 0) return {second, rank};
        return {below(2) == 0 ? g.add("Concat", {first, second}, {{"axis", axis}})
                              : g.add("Concat", {second, first}, {{"axis", below(rank)}}),
                rank};
      }
      case 6:
        return {g.add("Gather", {v, list(g, {number() % 2, number() % 2, number() % 3})}, {{"axis", axis}}), rank};
      case 7: {
        auto const length = g.add("Gather", {g.add("Shape", {v}), g.scalar(std::int64_t{axis})});
        auto const every =
            g.add("Range", {g.scalar(std::int64_t{below(2)}), length, g.scalar(std::int64_t{1 + below(2)})});
        return {g.add("Gather", {v, every}, {{"axis", axis}}), rank};
      }
      case 8: {
        numbers times(static_cast<std::size_t>(rank), 1);
        times[static_cast<std::size_t>(axis)] = 2;
        return {g.add("Tile", {v, list(g, times)}), rank};
      }
      default:
        return {g.add(below(2) == 0 ? "DepthToSpace" : "SpaceToDepth", {rank == 4 ? v : g.add("Squeeze", {v})},
                      {{"blocksize", 2}}),
                4};
    }
  }

 private:
  numbers random_order(std::size_t rank) {
    numbers order;
    for (std::size_t i = 0; i < rank; ++i)
      order.insert(order.begin() + below(static_cast<int>(i) + 1), static_cast<std::int64_t>(i));
    return order;
  }
  /// A shape, computed as exporters do it.
  graph::value extents(std::vector<std::vector<factor>> const& axes) {
    std::vector<graph::value> all;
    for (auto const& axis : axes) {
      graph::value product = list(g, {1});
      for (auto f : axis)
        product =
            g.add("Mul", {product, f.axis < 0 ? list(g, {f.number}) : g.add("Gather", {shape_, list(g, {f.axis})})});
      all.push_back(product);
    }
    if (all.empty()) return list(g, {});
    return g.add("Concat", all, {{"axis", 0}});
  }
  value reshaped(value const& x, std::vector<std::vector<factor>> axes) {
    return {g.add("Reshape", {x.v, extents(axes)}), std::move(axes)};
  }
  value merged(value const& x) {
    if (x.axes.size() < 2) return x;
    auto axes = x.axes;
    auto const at = static_cast<std::size_t>(below(static_cast<int>(axes.size()) - 1));
    for (auto f : axes[at + 1]) axes[at].push_back(f);
    axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    return reshaped(x, axes);
  }
  value parted(value const& x) {
    if (x.axes.empty() || x.axes.size() > 6) return x;
    auto axes = x.axes;
    auto const at = static_cast<std::size_t>(below(static_cast<int>(axes.size())));
    auto own = axes[at];
    if (own.size() == 1 && own[0].axis < 0 && own[0].number % 2 == 0 && own[0].number > 2) {
      auto const half = own[0].number / 2;
      own = below(2) == 0 ? std::vector<factor>{{-1, 2}, {-1, half}} : std::vector<factor>{{-1, half}, {-1, 2}};
    }
    if (own.size() < 2) return x;
    auto const middle = own.begin() + 1 + below(static_cast<int>(own.size()) - 1);
    axes[at].assign(own.begin(), middle);
    axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::vector<factor>(middle, own.end()));
    return reshaped(x, axes);
  }
  value transposed(value const& x) {
    auto const order = random_order(x.axes.size());
    value made{g.add("Transpose", {x.v}, {{"perm", order}}), {}};
    for (auto axis : order) made.axes.push_back(x.axes[static_cast<std::size_t>(axis)]);
    return made;
  }
  value with_one(value const& x) {
    if (x.axes.size() > 6) return x;
    auto const at = below(static_cast<int>(x.axes.size()) + 1);
    value made{g.add("Unsqueeze", {x.v, list(g, {at})}), x.axes};
    made.axes.insert(made.axes.begin() + at, std::vector<factor>{});
    return made;
  }
  value without_ones(value const& x) {
    numbers ones;
    value made{{}, {}};
    for (std::size_t i = 0; i < x.axes.size(); ++i)
      if (x.axes[i].empty())
        ones.push_back(static_cast<std::int64_t>(i));
      else
        made.axes.push_back(x.axes[i]);
    if (ones.empty()) return x;
    made.v = g.add("Squeeze", {x.v, list(g, ones)});
    return made;
  }
  value flattened(value const& x) {
    auto const at = below(static_cast<int>(x.axes.size()) + 1);
    value made{g.add("Flatten", {x.v}, {{"axis", at}}), {{}, {}}};
    for (std::size_t i = 0; i < x.axes.size(); ++i)
      for (auto f : x.axes[i]) made.axes[static_cast<int>(i) < at ? 0 : 1].push_back(f);
    return made;
  }
  value expanded(value const& x) {
    for (std::size_t i = 0; i < x.axes.size(); ++i) {
      if (!x.axes[i].empty()) continue;
      value made{{}, x.axes};
      made.axes[i].push_back(below(2) == 0 ? factor{-1, 2} : factor{2, 0});
      made.v = g.add("Expand", {x.v, extents(made.axes)});
      return made;
    }
    return x;
  }
  /// An axis that is one number above 2, and that; -1 where there is none.
  int long_axis(value const& x, std::int64_t& size) {
    for (std::size_t i = 0; i < x.axes.size(); ++i)
      if (x.axes[i].size() == 1 && x.axes[i][0].axis < 0 && (size = x.axes[i][0].number) > 2)
        return static_cast<int>(i);
    return -1;
  }
  value sliced(value const& x) {
    std::int64_t size = 0;
    auto const at = long_axis(x, size);
    if (at < 0) return x;
    std::int64_t const step = 1 + below(2), length = 2, start = below(static_cast<int>(size - (length - 1) * step));
    auto const end = start + (length - 1) * step + 1;
    auto const counted = below(2) == 0 ? start - size : start;
    value made{g.add("Slice", {x.v, list(g, {counted}), list(g, {end}), list(g, {at}), list(g, {step})}), x.axes};
    made.axes[static_cast<std::size_t>(at)] = {{-1, length}};
    return made;
  }
  value gathered(value const& x) {
    std::int64_t size = 0;
    auto const at = long_axis(x, size);
    if (at < 0) return x;
    if (below(3) == 0) {
      value made{g.add("Gather", {x.v, g.scalar(std::int64_t{below(static_cast<int>(size))} - size)}, {{"axis", at}}),
                 x.axes};
      made.axes.erase(made.axes.begin() + at);
      return made;
    }
    auto const half = size / 2;
    numbers order;  // even ones first, halves exchanged, backwards
    auto const how = below(3);
    for (std::int64_t i = 0; i < 2 * half; ++i)
      order.push_back(how == 0 ? i % half * 2 + i / half : how == 1 ? (i + half) % (2 * half) : 2 * half - 1 - i);
    value made{g.add("Gather", {x.v, list(g, order)}, {{"axis", at}}), x.axes};
    if (how == 2)
      made.axes[static_cast<std::size_t>(at)] = {{-1, 2 * half}};
    else
      made.axes[static_cast<std::size_t>(at)] = {{-1, 2}, {-1, half}};
    return made;
  }
  value split(value const& x) {
    std::int64_t size = 0;
    auto const at = long_axis(x, size);
    if (at < 0 || size % 2 != 0) return x;
    auto const parts = g.append("Split", {x.v, list(g, {size / 2, size - size / 2})}, {{"axis", at}}, 2);
    auto const first = g.result(parts, 0), second = g.result(parts, 1);
    auto const how = below(3);
    value made{how == 0   ? g.add("Concat", {first, second}, {{"axis", at}})
               : how == 1 ? g.add("Concat", {second, first}, {{"axis", at}})
                          : second,
               x.axes};
    if (how == 1) made.axes[static_cast<std::size_t>(at)] = {{-1, 2}, {-1, size / 2}};
    if (how == 2) made.axes[static_cast<std::size_t>(at)] = {{-1, size / 2}};
    return made;
  }

  std::mt19937_64 random_;
  graph::value shape_;
};

}  // namespace

namespace {

using evaluation = fuse::detail::graph_evaluation<fuse::graph_image, fuse::detail::facts>;

/// The values of a graph of chains where a, b and c are numbers, and what their layouts say.
struct trial {
  trial(read& of, graph::value base, std::int64_t a, std::int64_t b, std::int64_t c)
      : known(of), run(of.of.bound.image, of.of.known, fuse::dialect_of<graph>), extents{a, b, c} {
    fuse::dense given;
    given.shape = {a, 4, b, 6, c};
    for (std::int64_t i = 0; i < 24 * a * b * c; ++i) given.elements.push_back(static_cast<double>(i));
    given.type = element_type::float32;
    run.give(of.of.id(base), given);
    run.run();
  }
  fuse::dense const* of(graph::value v) { return run.value(known.of.id(v)); }

  bool value(fuse::detail::polynomial const& p, std::int64_t& into) {
    auto const& symbols = known.of.known.symbols();
    into = 0;
    for (std::uint32_t i = 0; i < p.count; ++i) {
      auto product = p.terms[i].factor, atom = std::int64_t{0};
      for (std::uint32_t k = 0; k < p.terms[i].degree; ++k, product *= atom) {
        auto const name = [&](fuse::extent e) {
          auto const text = symbols.text(e);
          return text.size() == 1 ? extents[static_cast<std::size_t>(text[0] - 'a')]
                                  : 1000;  // of what has no name nobody knows
        };
        if (!symbols.value(fuse::extent::of_symbol(p.terms[i].atoms[k]), name, atom)) return false;
      }
      into += product;
    }
    return true;
  }

  /// Whether the elements of `v` are those that a layout says.
  bool as_told(fuse::detail::layout const& form, fuse::dense const& v) {
    std::int64_t first = 0;
    if (form.rank() != v.shape.size() || !value(form.offset(), first)) return false;
    numbers told{first};  // index by index, the last digit fastest
    for (std::size_t axis = 0; axis < form.rank(); ++axis) {
      std::int64_t length = 1;
      for (auto const& d : form.all()) {
        std::int64_t extent = 0, stride = 0;
        if (d.axis != axis) continue;
        if (!value(d.extent, extent) || !value(d.stride, stride)) return false;
        length *= extent;
        numbers more;
        for (auto each : told)
          for (std::int64_t i = 0; i < extent; ++i) more.push_back(each + i * stride);
        told.swap(more);
      }
      if (length != v.shape[axis]) return false;
    }
    for (std::size_t i = 0; i < told.size(); ++i)
      if (static_cast<double>(told[i]) != v.elements[i]) return false;
    return told.size() == v.elements.size();
  }

  /// Whether the elements of `v` are the first ones of `base` along each axis.
  static bool begins(fuse::dense const& v, fuse::dense const& base) {
    if (v.shape.size() != base.shape.size()) return false;
    for (std::size_t i = 0; i < v.elements.size(); ++i) {
      auto left = static_cast<std::int64_t>(i), at = std::int64_t{0}, stride = std::int64_t{1};
      for (std::size_t axis = v.shape.size(); axis-- > 0; stride *= base.shape[axis]) {
        if (v.shape[axis] > base.shape[axis]) return false;
        at += left % v.shape[axis] * stride;
        left /= v.shape[axis];
      }
      if (v.elements[i] != base.elements[static_cast<std::size_t>(at)]) return false;
    }
    return true;
  }

  read& known;
  evaluation run;
  numbers extents;
};

}  // namespace

TEST_CASE("layouts are equal exactly where results are") {
  std::size_t equal = 0, unequal = 0;
  for (std::uint64_t seed = 1; seed <= 64; seed += one_case_in) {
    CAPTURE(seed);
    chains all(seed);
    std::vector<graph::value> values;
    for (int i = 0; i < 24; ++i) {
      auto at = all.start();
      for (auto left = all.below(4) == 0 ? 10 : all.below(4); left > 0; --left) at = all.step(at);
      values.push_back(at.v);
      if (all.below(3) == 0) values.push_back(all.detour(at).v);
    }
    for (auto v : values) all.g.output(v);
    read known(all.g);
    trial trials[] = {{known, all.base, 2, 3, 5}, {known, all.base, 5, 2, 2}, {known, all.base, 3, 7, 2}};
    std::vector<fuse::detail::layout> forms(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      CAPTURE(i);
      REQUIRE(known.form(values[i], all.base, forms[i]));
      for (auto& at : trials) {
        REQUIRE(at.of(values[i]) != nullptr);
        REQUIRE(at.as_told(forms[i], *at.of(values[i])));
      }
      for (std::size_t k = 0; k < i; ++k) {
        bool same = true;
        for (auto& at : trials)
          same = same && at.of(values[i])->shape == at.of(values[k])->shape &&
                 at.of(values[i])->elements == at.of(values[k])->elements;
        if ((forms[i] == forms[k]) != same) FAIL("values " << i << " and " << k);
        ++(same ? equal : unequal);
      }
    }
  }
  CHECK(equal > 400 / one_case_in);
  CHECK(unequal > 10000 / one_case_in);
}

TEST_CASE("whatever a chain is made of, its layout is right where there is one") {
  std::size_t told = 0, refused = 0, beginnings = 0;
  for (std::uint64_t seed = 1; seed <= 64; seed += one_case_in) {
    CAPTURE(seed);
    chains all(seed);
    std::vector<std::pair<graph::value, int>> values{{all.base, 5}};
    for (int i = 0; i < 40; ++i) {
      auto const& from = values[static_cast<std::size_t>(all.below(static_cast<int>(values.size())))];
      values.push_back(all.any(from.first, from.second));
    }
    for (auto v : values) all.g.output(v.first);
    read known(all.g);
    trial trials[] = {{known, all.base, 2, 2, 2}, {known, all.base, 1, 3, 4}, {known, all.base, 4, 6, 1}};
    for (std::size_t i = 0; i < values.size(); ++i) {
      fuse::detail::layout form;
      bool const read = known.form(values[i].first, all.base, form);
      for (auto& at : trials) {
        auto const* v = at.of(values[i].first);
        if (v == nullptr) continue;  // no valid graph, with such extents
        ++(read ? told : refused);
        if (read && !at.as_told(form, *v)) FAIL("value " << i << ": " << known.text(values[i].first, all.base));
      }
      for (std::size_t k = 0; k < values.size(); ++k) {
        if (k == i || !known.is_beginning(values[i].first, values[k].first)) continue;
        ++beginnings;
        for (auto& at : trials)
          if (auto const* v = at.of(values[i].first), *whole = at.of(values[k].first); v != nullptr && whole != nullptr)
            if (!trial::begins(*v, *whole)) FAIL("value " << i << " is no beginning of value " << k);
      }
    }
  }
  CHECK(told > 1000 / one_case_in);
  CHECK(refused > 500 / one_case_in);
  CHECK(beginnings > 100 / one_case_in);
}

TEST_CASE("the beginning of a value along each axis") {
  graph g(18);
  auto const list = [&](std::vector<std::int64_t> const& all) {
    return g.constant(fuse::make_tensor<std::int64_t>({static_cast<std::int64_t>(all.size())}, all));
  };
  auto const x = g.input("x", element_type::float32, {3, "n", 4});
  auto const cut = [&](graph::value v, std::int64_t from, std::int64_t to, std::int64_t axis, std::int64_t by = 1) {
    return g.add("Slice", {v, list({from}), list({to}), list({axis}), list({by})});
  };
  auto const square = g.input("s", element_type::float32, {3, 2});
  std::pair<graph::value, bool> const of_x[] = {{x, true},
                                                {cut(x, 0, 2, 0), true},
                                                {cut(x, 0, 3, 2), true},
                                                {cut(cut(x, 0, 3, 2), 0, 1, 0), true},
                                                {cut(x, 1, 3, 0), false},
                                                {cut(x, 0, 4, 2, 2), false},
                                                {g.add("Concat", {x, x}, {{"axis", 0}}), false},
                                                {g.add("Squeeze", {cut(x, 0, 1, 0), list({0})}), false}};
  std::pair<graph::value, bool> const of_square[] = {
      {g.add("Reshape", {square, list({1, 6})}), false},  // six are more than the last axis has
      {g.add("Reshape", {square, list({2, 3})}), false},
      {g.add("Reshape", {square, list({-1, 2})}), true}};
  for (auto const& [v, is] : of_x) g.output(v);
  for (auto const& [v, is] : of_square) g.output(v);
  read known(g);
  for (auto const& [v, is] : of_x) CHECK(known.is_beginning(v, x) == is);
  for (auto const& [v, is] : of_square) CHECK(known.is_beginning(v, square) == is);
}

}  // namespace infer_layout
