// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fuse/eval/dense.hpp>
#include <fuse/eval/rounding.hpp>
#include <fuse/graph/binding.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/infer/parameters.hpp>
#include <fuse/ops/names.hpp>
#include <fuse/rewrite/operator_writer.hpp>
#include <fuse/rewrite/transaction.hpp>

namespace fuse::inline v0 {

/// A constant that was quantised, and what that cost.
struct quantised_constant {
  std::string node;  ///< that reads it
  std::string name;  ///< of the constant
  std::vector<std::int64_t> shape;
  double scale = 1;
  int zero_point = 0;
  double largest = 0;        ///< of its elements, without their signs
  double largest_error = 0;  ///< of an element
  double root_mean_square_error = 0;
};

/// What `quantise_embeddings` did.
struct quantisation_report {
  std::vector<quantised_constant> constants{};
  std::vector<std::string> left{};  ///< norms of embeddings that stay, each with the reason
  std::string error{};              ///< why nothing was done
};

struct quantisation_options {
  fuse::target target = fuse::target::vendor;
};

namespace detail {

/// Elements as uint8: `(q - zero) * scale`. Of the range that has them all, and 0.
struct quantised_elements {
  std::vector<double> q{};
  double scale = 1, zero = 0;

  /// False where an element is no finite number.
  [[nodiscard]] bool make(std::vector<double> const& of) {
    constexpr double steps = 255;
    double least = 0, most = 0;
    for (auto const x : of) {
      if (!std::isfinite(x)) return false;
      least = x < least ? x : least;
      most = x > most ? x : most;
    }
    scale = rounded((most - least) / steps, element_type::float32);
    if (!(scale > 0)) scale = 1;
    zero = within(std::nearbyint(-least / scale));
    q.clear();
    for (auto const x : of) q.push_back(within(std::nearbyint(x / scale) + zero));
    return true;
  }
  [[nodiscard]] double number(std::size_t i) const { return (q[i] - zero) * scale; }

 private:
  [[nodiscard]] static double within(double x) { return x < 0 ? 0 : x > 255 ? 255 : x; }
};

/// Quantises the norms of embeddings of an image and of the graph behind it.
class embedding_quantiser {
 public:
  embedding_quantiser(graph_image& image, dialect const& names, quantisation_options const& options)
      : image_(image),
        names_(names),
        known_(image, names),
        changes_(image, known_, false),
        writer_(image, known_, names, options.target, changes_) {
    known_.run();
  }

  quantisation_report run() {
    for (auto n = image_.first_node(); n != absent;) {
      auto const next = image_.node(n).next;
      if (op_of(image_, n) == opcode::embed_layer_norm)
        if (auto const why = quantise(n); !why.empty())
          report_.left.push_back(std::string(image_.source->node_name(n)) + ": " + why);
      n = next;
    }
    return std::move(report_);
  }

 private:
  static constexpr std::uint32_t first = 2, count = 5, mask = 7, positions = 8, scales = 8, zeros = 13, operands = 18;

  [[nodiscard]] value_id operand(node_id n, std::uint32_t i) const {
    return i < image_.operand_count(n) ? image_.operand(n, i) : absent;
  }

  // Why a norm stays, or an empty text.
  std::string quantise(node_id n) {
    if (operand(n, positions) != absent) return "the operator of 8 bits has no operand for positions";
    if (operand(n, mask) != absent) return "the operator of 8 bits counts a mask otherwise";
    for (std::uint32_t i = 1; i < image_.node(n).result_count; ++i)
      if (!image_.unused(image_.result(n, i))) return "the operator of 8 bits has not all of the results that are used";
    if (known_.type(image_.result(n)) != element_type::float32) return "the operator of 8 bits makes float32";
    double epsilon = 0;
    if (!read_number(image_, known_, names_, n, "epsilon", epsilon)) return "its epsilon is not known";

    value_id made[operands];
    for (auto& v : made) v = absent;
    made[0] = operand(n, 0);
    made[1] = operand(n, 1);
    std::vector<quantised_constant> told;
    changes_.open(image_.scope_of(image_.node(n).region));
    for (std::uint32_t i = 0; i < count; ++i) {
      auto const v = operand(n, first + i);
      if (v == absent) continue;
      auto const held = image_.value(v).constant ? image_.source->constant(v) : tensor_view{};
      quantised_elements elements;
      if (!held) return give_up("'" + image_.source->value_name(v) + "' is no constant");
      auto const numbers = dense::of(held).elements;
      if (!elements.make(numbers))
        return give_up("'" + image_.source->value_name(v) + "' has an element that is no finite number");
      std::vector<std::int64_t> const shape(held.shape.begin(), held.shape.end());
      auto const number = [&](element_type type, double of) {
        return changes_.constant_of(make_tensor(type, {}, std::vector<double>{of}));
      };
      made[first + i] = changes_.constant_of(make_tensor(element_type::uint8, shape, elements.q));
      made[scales + i] = number(element_type::float32, elements.scale);
      made[zeros + i] = number(element_type::uint8, elements.zero);
      told.push_back(tell(n, v, held, numbers, elements));
    }
    writer_.begin(n);
    written_parameter parameters[] = {{"epsilon", epsilon}};
    auto written = writer_.neutral(opcode::qembed_layer_norm, made, parameters, 2);
    if (!written) return give_up(written.why().reason);
    if (auto const why = changes_.commit(n, image_.source->node_name(n)); !why.empty()) return why;
    image_.source->replace_uses(image_.result(n), *written);
    image_.redirect(image_.result(n), *written);
    image_.source->erase(n);
    image_.erase(n);
    for (auto& each : told) report_.constants.push_back(std::move(each));
    return {};
  }
  std::string give_up(std::string why) {
    changes_.roll_back();
    return why;
  }

  [[nodiscard]] quantised_constant tell(node_id n, value_id v, tensor_view held, std::vector<double> const& numbers,
                                        quantised_elements const& by) const {
    quantised_constant made{std::string(image_.source->node_name(n)),
                            image_.source->value_name(v),
                            {},
                            by.scale,
                            static_cast<int>(by.zero)};
    made.shape.assign(held.shape.begin(), held.shape.end());
    double squares = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      auto const error = std::fabs(by.number(i) - numbers[i]), size = std::fabs(numbers[i]);
      made.largest = size > made.largest ? size : made.largest;
      made.largest_error = error > made.largest_error ? error : made.largest_error;
      squares += error * error;
    }
    if (!numbers.empty()) made.root_mean_square_error = std::sqrt(squares / static_cast<double>(numbers.size()));
    return made;
  }

  graph_image& image_;
  dialect const& names_;
  facts known_;
  basic_transaction<graph_image> changes_;
  basic_operator_writer<graph_image> writer_;
  quantisation_report report_;
};

}  // namespace detail

/// Makes the tables, scales and biases of norms of embeddings (`rules::embeddings`) elements of 8 bits, and the norms
/// such as take these: a quarter of the size, at the price of what rounding costs, which the report tells for each
/// constant. uint8 by one scale and zero point for a constant, so that its elements and 0 are in range. Norms by given
/// positions, with a mask, with a sum that others use, or of anything that is no constant of float32 stay. Linear in
/// the graph and in the constants.
template <class Graph>
quantisation_report quantise_embeddings(Graph& graph, quantisation_options const& options = {}) {
  static_assert(rewritable_graph<Graph>, "fuse: only a graph whose traits have the edits can be quantised");
  static constexpr auto const& names = dialect_of<Graph>;
  graph_binding<Graph> bound(graph, names_in(names), names.newest);
  if (bound.cyclic()) return {.error = "the graph has a cycle"};
  return detail::embedding_quantiser(bound.image, names, options).run();
}

}  // namespace fuse::inline v0
