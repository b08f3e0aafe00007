// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fuse/core/hash_index.hpp>
#include <fuse/core/mixed.hpp>
#include <fuse/core/plain_vector.hpp>
#include <fuse/core/span.hpp>
#include <fuse/graph/image.hpp>
#include <fuse/graph/read_only_source.hpp>
#include <fuse/graph/tensor.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/ops/dialect.hpp>

namespace fuse::inline v0::detail {

/// New nodes and constants that are in the image, where shapes follow them, but not yet in the user's graph: either all
/// of them get there (`commit`) or none (`roll_back`, also by the destructor). One that is closed may be opened again:
/// it keeps its memory.
template <class Image>
class basic_transaction final : public read_only_source {
 public:
  basic_transaction(Image& image, facts& known, bool opened = true)
      : image_(image), facts_(known), real_(*image.source) {
    if (opened) open();
  }
  ~basic_transaction() override { roll_back(); }

  /// Begins anew; not while it is open. `scope` is the graph itself or the function that all of it is for: where
  /// constants go, for every body inside to see.
  void open(std::uint32_t scope = 0) {
    scope_ = scope;
    first_node_ = image_.node_count();
    first_value_ = image_.value_count();
    step_count_ = 0;
    functions_.clear();
    shared_.clear();
    bytes_ = 0;
    open_ = true;
    image_.source = this;
  }

  /// One that is there already, where it is equal: of this transaction, or of one before it that is still used.
  value_id constant_of(tensor contents) {
    for (auto const& s : steps())
      if (s.constant && s.contents == contents) return s.id;
    auto const is = [&](value_id v) {
      return image_.value(v).region == scope_ && !image_.unused(v) && same_contents(real_.constant(v), contents);
    };
    if (auto const v = committed_.find(hash_of(contents), is); v != committed_.none) return v;
    auto const v = image_.add_value(scope_);
    image_.set_constant(v, true);
    auto& step = add_step(true, v);
    step.contents = std::move(contents);
    bytes_ += static_cast<double>(step.contents.bytes.size());
    facts_.read_inputs_and_constants();
    return v;
  }

  /// A node in the region of `like`, with which `commit` goes. Facts of its results are known afterwards. `attributes`
  /// is left with anything. What only moves or selects elements may be there already: made by this transaction, or by
  /// one before it that did not end with it.
  node_id node(operator_tag tag, std::string_view op, span<value_id const> operands,
               std::vector<attribute>&& attributes, std::uint32_t results, node_id like) {
    auto const region = image_.node(like).region;
    if (may_share(tag))
      if (auto const equal = equal_node({tag, op, operands, attributes, results, like}); equal != absent) {
        if (equal < first_node_) shared_.push_back(equal);
        return equal;
      }
    auto& step = add_step(false, image_.node_count());
    step.tag = tag;
    step.op = op;
    step.attributes.swap(attributes);
    auto const n = image_.add_node(tag, results, region);
    image_.attach_operands(n, operands);
    facts_.update(n);
    return n;
  }

  /// A function that new nodes call; declared with them.
  void function(function_body body) { functions_.push_back(std::move(body)); }
  /// Whether new nodes call any.
  [[nodiscard]] bool has_functions() const { return !functions_.empty(); }

  /// Whom new operators are for, where the result is for `to`: in functions for whoever knows the specification.
  /// (onnxruntime checks functions by ONNX's own operators, and crashes at those that it has added to their domain.)
  [[nodiscard]] target target_here(target to) const { return scope_ == 0 ? to : target::standard; }

  [[nodiscard]] node_id first_node() const { return first_node_; }
  /// Whether a value is of the graph as it was before.
  [[nodiscard]] bool was_there(value_id v) const { return v < first_value_; }
  /// Nodes that were there already and stand for new ones.
  [[nodiscard]] span<node_id const> shared() const { return shared_; }
  /// Whether `n` is new, or stands for a new one.
  [[nodiscard]] bool is_new(node_id n) const {
    bool found = n >= first_node_;
    for (auto const s : shared_) found = found || s == n;
    return found;
  }
  [[nodiscard]] double constant_bytes() const { return bytes_; }

  /// Adds everything to the user's graph: the last node before node `place`, those that it needs as early as they can
  /// stand, so that they are in nobody's way. Returns an empty text, or what the graph cannot do; nothing remains then
  /// but constants that nobody reads.
  std::string commit(node_id place, std::string_view origin) {
    image_.source = &real_;
    open_ = false;
    for (auto const& body : functions_)
      if (!real_.declare(body)) return give_up("the graph cannot hold a function that the right side needs");
    for (auto const& s : steps()) {
      if (s.constant) {
        if (!real_.add_constant(scope_, s.contents, origin))
          return give_up("the graph cannot hold a constant that the right side needs");
        continue;
      }
      operands_.clear();
      types_.clear();
      for (std::uint32_t i = 0; i < image_.operand_count(s.id); ++i) operands_.push_back(image_.operand(s.id, i));
      for (std::uint32_t i = 0; i < image_.node(s.id).result_count; ++i)
        types_.push_back(facts_.type(image_.result(s.id, i)));
      auto const before = &s == &steps().back() ? place : early_place(s.id, place);
      if (!real_.insert(before, s.op, operands_, s.attributes, types_, origin))
        return give_up("the graph refuses a new " + s.op + ", or makes one with another number of results");
      image_.place_before(s.id, before);
    }
    for (auto const& s : steps())
      if (s.constant)
        committed_.add(hash_of(s.contents), s.id);
      else if (&s != &steps().back() && may_share(s.tag))
        keep(s);
    return {};
  }

  /// Whether every attribute of new node `n` stands on node `old`, too.
  [[nodiscard]] bool says_the_same(node_id n, node_id old) const {
    for (auto const& s : steps())
      if (!s.constant && s.id == n)
        for (auto const& a : s.attributes)
          if (!equal(view_of(a), real_.attribute_of(old, a.name))) return false;
    return true;
  }

  void roll_back() {
    if (!open_) return;
    image_.source = &real_;
    undo();
  }

  // What the image asks of new nodes is answered here.
  [[nodiscard]] tensor_view constant(value_id v) const override {
    if (v < first_value_) return real_.constant(v);
    for (auto const& s : steps())
      if (s.constant && s.id == v) return s.contents;
    return {};
  }
  [[nodiscard]] attribute_view attribute_of(node_id n, std::string_view name) const override {
    if (n < first_node_) return real_.attribute_of(n, name);
    for (auto const& s : steps())
      if (!s.constant && s.id == n)
        for (auto const& a : s.attributes)
          if (a.name == name) return view_of(a);
    return {};
  }
  [[nodiscard]] bool same_attributes(node_id a, node_id b) const override {
    return a < first_node_ && b < first_node_ && real_.same_attributes(a, b);
  }
  [[nodiscard]] element_type type(value_id v) const override {
    if (v < first_value_) return real_.type(v);
    return constant(v).type;
  }
  [[nodiscard]] bool shape(value_id v, std::vector<dimension>& into) const override {
    if (v < first_value_) return real_.shape(v, into);
    auto const t = constant(v);
    into.clear();
    for (auto extent : t.shape) into.push_back({extent, {}});
    return static_cast<bool>(t);
  }
  [[nodiscard]] std::string_view op_name(node_id n) const override {
    if (n < first_node_) return real_.op_name(n);
    for (auto const& s : steps())
      if (!s.constant && s.id == n) return s.op;
    return {};
  }
  [[nodiscard]] std::string node_name(node_id n) const override {
    return n < first_node_ ? real_.node_name(n) : "new node";
  }
  [[nodiscard]] std::string value_name(value_id v) const override {
    return v < first_value_ ? real_.value_name(v) : "new value";
  }
  [[nodiscard]] bool has_shapes() const override { return real_.has_shapes(); }
  [[nodiscard]] void const* graph() const override { return real_.graph(); }
  [[nodiscard]] void const* graph_type() const override { return real_.graph_type(); }
  [[nodiscard]] void const* handle(value_id v) const override { return v < first_value_ ? real_.handle(v) : nullptr; }

 private:
  struct made {
    bool constant;
    std::uint32_t id;
    operator_tag tag;
    std::string op;
    std::vector<attribute> attributes;
    tensor contents;
  };

  [[nodiscard]] span<made const> steps() const { return {steps_.data(), step_count_}; }
  made& add_step(bool constant, std::uint32_t id) {
    if (step_count_ == steps_.size()) steps_.emplace_back();
    auto& step = steps_[step_count_++];
    step.constant = constant;
    step.id = id;
    return step;
  }

  // Of the shape and the first bytes: large ones are mostly told apart by these.
  [[nodiscard]] static std::size_t hash_of(tensor const& t) {
    auto h = mixed(static_cast<std::uint64_t>(t.type), t.bytes.size());
    for (auto extent : t.shape) h = mixed(h, static_cast<std::uint64_t>(extent));
    for (std::size_t i = 0; i < t.bytes.size() && i < 1024; ++i) h = mixed(h, static_cast<std::uint64_t>(t.bytes[i]));
    return static_cast<std::size_t>(h);
  }

  // What arithmetic is done in stays apart: how often that is computed is a rule's business.
  [[nodiscard]] static bool may_share(operator_tag tag) {
    auto const op = static_cast<opcode>(tag.op);
    return info(op).kind == op_kind::injective || op == opcode::shape || op == opcode::where;
  }
  struct wanted_node {
    operator_tag tag;
    std::string_view op;
    span<value_id const> operands;
    std::vector<attribute> const& attributes;
    std::uint32_t results;
    node_id like;
  };
  [[nodiscard]] static std::size_t hash_of(operator_tag tag, span<value_id const> operands) {
    auto h = mixed(tag.name, tag.op);
    for (auto const v : operands) h = mixed(h, v);
    return static_cast<std::size_t>(h);
  }
  [[nodiscard]] node_id equal_node(wanted_node const& wanted) const {
    for (auto const& s : steps())
      if (!s.constant && s.attributes == wanted.attributes && s.op == wanted.op && reads_the_same(s.id, wanted))
        return s.id;
    // One that nobody reads is gone, or will be.
    auto const found = kept_nodes_.find(hash_of(wanted.tag, wanted.operands), [&](std::uint32_t at) {
      auto const& k = kept_[at];
      bool const before = image_.node(k.id).order < image_.node(wanted.like).order;
      return before && k.attributes == wanted.attributes && real_.op_name(k.id) == wanted.op && image_.is_read(k.id) &&
             reads_the_same(k.id, wanted);
    });
    return found == kept_nodes_.none ? absent : kept_[found].id;
  }
  [[nodiscard]] bool reads_the_same(node_id n, wanted_node const& wanted) const {
    auto const& record = image_.node(n);
    bool same = record.tag.name == wanted.tag.name && record.tag.op == wanted.tag.op &&
                record.result_count == wanted.results && record.region == image_.node(wanted.like).region &&
                image_.operand_count(n) == wanted.operands.size();
    for (std::uint32_t i = 0; same && i < wanted.operands.size(); ++i)
      same = image_.operand(n, i) == wanted.operands[i];
    return same;
  }
  void keep(made const& s) {
    operands_.clear();
    for (std::uint32_t i = 0; i < image_.operand_count(s.id); ++i) operands_.push_back(image_.operand(s.id, i));
    kept_nodes_.add(hash_of(s.tag, operands_), static_cast<std::uint32_t>(kept_.size()));
    kept_.push_back({s.id, s.attributes});
  }

  // The node after the last of what `n` reads.
  [[nodiscard]] node_id early_place(node_id n, node_id place) const {
    node_id after = absent;
    for (std::uint32_t i = 0; i < image_.operand_count(n); ++i) {
      auto const v = image_.operand(n, i);
      auto const p = v == absent ? absent : image_.producer(v);
      if (p != absent && (after == absent || image_.node(p).order > image_.node(after).order)) after = p;
    }
    auto at = after == absent ? image_.first_node() : image_.node(after).next;
    while (at != absent && image_.node(at).region != image_.node(place).region) at = image_.node(at).next;
    return at != absent && image_.node(at).order < image_.node(place).order ? at : place;
  }

  static bool equal(attribute_view const& a, attribute_view const& b) {
    if (auto const* x = std::get_if<std::int64_t>(&a))
      return std::holds_alternative<std::int64_t>(b) && std::get<std::int64_t>(b) == *x;
    if (auto const* x = std::get_if<double>(&a))  // graphs keep them as floats
      return std::holds_alternative<double>(b) && static_cast<float>(std::get<double>(b)) == static_cast<float>(*x);
    if (auto const* x = std::get_if<std::string_view>(&a))
      return std::holds_alternative<std::string_view>(b) && std::get<std::string_view>(b) == *x;
    if (auto const* x = std::get_if<span<std::int64_t const>>(&a)) {
      auto const* y = std::get_if<span<std::int64_t const>>(&b);
      return y != nullptr && x->size() == y->size() && std::equal(x->begin(), x->end(), y->begin());
    }
    return false;
  }

  std::string give_up(std::string why) {
    real_.forget(first_node_, first_value_);
    undo();
    return why;
  }
  void undo() {
    open_ = false;
    for (std::size_t i = step_count_; i-- > 0;) {
      if (steps_[i].constant)
        image_.pop_value();
      else
        image_.pop_node();
    }
    facts_.resize(image_.value_count());
    step_count_ = 0;
  }

  Image& image_;
  facts& facts_;
  graph_source& real_;
  node_id first_node_ = 0;
  value_id first_value_ = 0;
  std::uint32_t scope_ = 0;
  std::vector<made> steps_;  // the first `step_count_` of them; the others' memory waits
  std::size_t step_count_ = 0;
  hash_index<value_id> committed_;  // constants in the user's graph, by their contents
  struct kept_node {
    node_id id;
    std::vector<attribute> attributes;
  };
  std::vector<kept_node> kept_;  // nodes in the user's graph that may stand for new ones
  hash_index<std::uint32_t> kept_nodes_;
  plain_vector<node_id> shared_;
  std::vector<function_body> functions_;
  detail::plain_vector<value_id> operands_;
  detail::plain_vector<element_type> types_;
  double bytes_ = 0;
  bool open_ = false;
};
using transaction = basic_transaction<graph_image>;

}  // namespace fuse::inline v0::detail
