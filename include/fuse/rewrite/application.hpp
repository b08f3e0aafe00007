// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fuse/core/plain_vector.hpp>
#include <fuse/core/span.hpp>
#include <fuse/infer/validity.hpp>
#include <fuse/match/machine.hpp>
#include <fuse/rewrite/built.hpp>
#include <fuse/rewrite/cost.hpp>
#include <fuse/rewrite/infinite_terms.hpp>
#include <fuse/rewrite/instantiation.hpp>
#include <fuse/rewrite/narrowing.hpp>
#include <fuse/rewrite/options.hpp>
#include <fuse/rewrite/other_results.hpp>
#include <fuse/rewrite/replacement.hpp>
#include <fuse/rewrite/transaction.hpp>

namespace fuse::inline v0::detail {

/// What became of one match.
struct rewrite_outcome {
  enum class kind : std::uint8_t { applied, refused, unchanged } is;
  objection why{};          ///< of one that is refused
  bool costly = false;      ///< ... for its cost
  std::string unchecked{};  ///< of one that is applied: why it was not checked, if it was to be
};

/// Puts the right side of a rule in the place of one match, if that is right: builds it, asks whether it fits, has a
/// place and pays, and edits graph and image. A match that is refused leaves no trace. One for all: its buffers stay.
template <class Image>
class basic_application {
 public:
  basic_application(machine& match, Image& image, facts& known, dialect const& names, rewrite_options const& options)
      : rules_(match.rules()),
        match_(match.found()),
        image_(image),
        facts_(known),
        names_(names),
        options_(options),
        traffic_(image, known),
        validity_(image, known, names),
        changes_(image, known, false),
        required_(match_, image, known, names),
        right_(rules_, match_, image, known, names, options.target, changes_, required_),
        infinite_(image, known, names, match_, changes_),
        narrowing_(rules_, match_, image, known, names, options.trust_shapes),
        others_(image, known, names, match.congruent(), changes_) {}

  /// Says of which operators' results some rule counts the users: what is told again when it has fewer.
  void count_users(opcode_set const& of) { counted_ = of; }

  /// Applies `rule` to the machine's match at node `root`. `computed_in`: unknown, or the wider element type of a
  /// second try. `origin`: what new nodes are named after. It is unchanged where the right side is the graph as it is.
  rewrite_outcome apply(std::uint16_t rule, node_id root, element_type computed_in, std::string_view origin) {
    using kind = rewrite_outcome::kind;
    root_ = root;
    required_.begin();
    if (!find_roots(rule)) return {kind::unchanged};
    if (one_root_twice()) return refuse("roots", "two results of the rule would replace one value");
    auto const forms = right_.forms(rule);
    if (forms == 1) return apply_form(rule, 0, computed_in, origin);
    // Of several forms the one that saves most, of equal ones the first; functions, which cost what their bodies do,
    // come behind operators.
    plain_vector<priced_form> order;
    rewrite_outcome refused{kind::unchanged};
    for (std::uint8_t form = 0; form < forms; ++form) {
      priced_form made{form};
      auto outcome = apply_form(rule, form, computed_in, origin, &made);
      if (outcome.is == kind::unchanged) return outcome;
      if (outcome.is == kind::refused) {
        tell_furthest(refused, std::move(outcome));
        continue;
      }
      order.push_back(made);
      for (auto at = order.size() - 1; at > 0 && made.better(order[at - 1]); --at) {
        order[at] = order[at - 1];
        order[at - 1] = made;
      }
    }
    for (auto const& each : order) {
      auto outcome = apply_form(rule, each.form, computed_in, origin);
      if (outcome.is != kind::refused) return outcome;
      tell_furthest(refused, std::move(outcome));
    }
    return refused;
  }

  // Of the last that was applied:

  /// New nodes are those from this one on.
  [[nodiscard]] node_id first_node() const { return changes_.first_node(); }
  /// Nodes that read what is different now, or what fewer nodes read than before, and what they read; for each value
  /// the latest first.
  struct reader {
    node_id node;
    value_id of;  ///< absent where only contents are different
  };
  [[nodiscard]] span<reader const> readers() const { return readers_; }

 private:
  static rewrite_outcome refuse(char const* condition, std::string reason) {
    return {rewrite_outcome::kind::refused, {std::move(reason), element_type::unknown, condition}};
  }

  struct priced_form {
    std::uint8_t form;
    bool functions = false;  ///< it calls some
    double saved = 0;        ///< bytes moved

    [[nodiscard]] bool better(priced_form const& than) const {
      return functions == than.functions ? saved > than.saved : than.functions;
    }
  };
  // Any form may be worth another try; what the report tells is of the form that came furthest.
  static void tell_furthest(rewrite_outcome& told, rewrite_outcome other) {
    if (told.is != rewrite_outcome::kind::refused) {
      told = std::move(other);
      return;
    }
    auto const wider = told.why.wider != element_type::unknown ? told.why.wider : other.why.wider;
    bool const costly = told.costly || other.costly;
    if (told.why.missing || (other.costly && !told.costly)) told = std::move(other);
    told.why.wider = wider;
    told.costly = costly;
  }

  // One form of the right side; nothing is changed where its price is asked for.
  rewrite_outcome apply_form(std::uint16_t rule, std::uint8_t form, element_type computed_in, std::string_view origin,
                             priced_form* price = nullptr) {
    using kind = rewrite_outcome::kind;
    changes_.open(image_.scope_of(image_.node(root_).region));
    struct rollback {
      basic_transaction<Image>& of;
      ~rollback() { of.roll_back(); }
    } const unless_committed{changes_};
    auto right = right_.build(rule, form, root_, computed_in);
    made_.assign(*right);
    if (right && unchanged()) return {kind::unchanged};
    if (auto why = narrowing_.refuses(roots_[0]); !why.empty()) return refuse("element type", std::move(why));
    if (!right) return {kind::refused, right.why()};
    if (auto why = others_.take(roots_, made_); !why.empty()) return refuse("results", std::move(why));
    for (std::size_t i = 0; i < roots_.size(); ++i)
      if (auto why = unfit(made_[i], roots_[i]); !why.empty()) return refuse("shape and element type", std::move(why));
    if (auto why = invalid(); !why.empty()) return refuse("operator", std::move(why));
    if (auto const what = infinite_.find(); !what.empty())
      return refuse("right side", "it would add up multiples of " + what +
                                      ", which is not finite, where it was none of the terms: inf - inf is no number");
    auto place = root_;
    if (roots_.size() > 1 && !find_place(place))
      return refuse("order",
                    "there is no place for the new node between what it needs and what needs it: a cycle would arise");
    if (auto const late = read_too_late(place); late != absent)
      return refuse("order", "the right side reads " + image_.source->value_name(late) +
                                 ", which is not there before what it replaces: a cycle would arise");
    auto const bytes = cost(price != nullptr);
    auto const& known = rules_.rules[rule];
    if (known.equal_cost ? bytes.added > bytes.removed : bytes.added >= bytes.removed) {
      auto outcome = refuse("cost", "the rewrite would add " + std::to_string(static_cast<long long>(bytes.added)) +
                                        " bytes moved, calls counted as such, to save " +
                                        std::to_string(static_cast<long long>(bytes.removed)));
      outcome.costly = true;
      return outcome;
    }
    if (price != nullptr) {
      price->functions = changes_.has_functions();
      price->saved = bytes.removed - bytes.added;
      return {kind::applied};
    }
    if (options_.veto != nullptr && options_.veto(options_.veto_context, known.name, bytes))
      return refuse("veto", "the caller's cost hook refused the rewrite");
    auto checked = check();
    if (checked.is == check_result::verdict::wrong) return refuse("check", std::move(checked.reason));
    if (auto why = changes_.commit(place, origin); !why.empty()) return refuse("graph", std::move(why));
    list_readers();
    replace();
    erase_dead();
    update_contents();
    right_.forget();
    rewrite_outcome outcome{kind::applied};
    if (checked.is == check_result::verdict::unknown) outcome.unchecked = std::move(checked.reason);
    return outcome;
  }

  // The values that are replaced. Several results are worth one operator only where each is wanted.
  bool find_roots(std::uint16_t rule) {
    auto const& known = rules_.rules[rule];
    roots_.assign(1, match_.value(0));
    for (std::uint8_t i = 1; i < known.root_count; ++i) roots_.push_back(match_.value(known.root_registers[i]));
    if (roots_.size() > 1)
      for (auto v : roots_)
        if (image_.unused(v)) return false;
    return true;
  }
  [[nodiscard]] bool one_root_twice() const {
    for (std::size_t i = 1; i < roots_.size(); ++i)
      for (std::size_t k = 0; k < i; ++k)
        if (roots_[i] == roots_[k]) return true;
    return false;
  }
  [[nodiscard]] bool is_root(value_id v) const {
    for (auto r : roots_)
      if (r == v) return true;
    return false;
  }
  [[nodiscard]] bool is_new(value_id v) const {
    return image_.producer(v) != absent && image_.producer(v) >= first_node();
  }

  // Whether the right side is the graph as it is: roots themselves, or what new nodes say once more.
  [[nodiscard]] bool unchanged() {
    if (made_[0] == roots_[0]) return true;
    same_.clear();
    for (std::size_t i = 0; i < roots_.size(); ++i)
      if (!says_the_same(made_[i], roots_[i])) return false;
    return true;
  }
  // Whether `made` is `old`, or computed as it is: by the same operator with the same attributes, of the same in any
  // order that is as good; constants by what they hold.
  [[nodiscard]] bool says_the_same(value_id made, value_id old) {
    if (made == old) return true;
    if (made == absent || old == absent) return false;
    if (image_.value(made).constant && image_.value(old).constant) {
      auto const a = image_.source->constant(made), b = image_.source->constant(old);
      return a && b && same_contents(a, b);
    }
    auto const n = image_.producer(made), old_node = image_.producer(old);
    if (n == absent || n < first_node() || old_node == absent) return false;
    if (image_.result_index(made) != image_.result_index(old)) return false;
    for (auto const& each : same_)
      if (each.node == n && each.old == old_node) return true;
    auto const &tag = image_.node(n).tag, &old_tag = image_.node(old_node).tag;
    if (tag.name != old_tag.name || (tag.name == 0 && image_.source->op_name(n) != image_.source->op_name(old_node)) ||
        !changes_.says_the_same(n, old_node))
      return false;
    std::uint32_t const count = image_.operand_count(n), old_count = image_.operand_count(old_node);
    auto const operand = [&](node_id of, std::uint32_t i) {
      return i < image_.operand_count(of) ? image_.operand(of, i) : absent;
    };
    bool same = true;
    for (std::uint32_t i = 0; same && (i < count || i < old_count); ++i)
      same = says_the_same(operand(n, i), operand(old_node, i));
    if (!same && count == 2 && old_count == 2 && info(op_of(image_, n)).commutative)
      same = says_the_same(operand(n, 0), operand(old_node, 1)) && says_the_same(operand(n, 1), operand(old_node, 0));
    if (same) same_.push_back({n, old_node});
    return same;
  }

  [[nodiscard]] std::string unfit(value_id made, value_id old) const {
    auto const type = facts_.type(made), wanted = facts_.type(old);
    if (type != wanted || type == element_type::unknown) {
      if (!(options_.trust_shapes && (type == element_type::unknown || wanted == element_type::unknown)))
        return "the result would be " + std::string(name_of(type)) + " where it was " + std::string(name_of(wanted));
    }
    if (facts_.same_shape(made, old)) return {};
    if (options_.trust_shapes && (!facts_.has_rank(made) || !facts_.has_rank(old))) return {};
    if (!facts_.has_rank(made) || !facts_.has_rank(old)) return "the shape of the result is not known";
    return "the result would have another shape, or one that is not provably the same";
  }

  // What a new node's operator requires and does not have, or what is not known of it: unless a matched node has
  // required the same, or the caller vouches for shapes.
  [[nodiscard]] std::string invalid() {
    for (auto n = first_node(); n < image_.node_count(); ++n) {
      auto const name = [&] { return "the new " + std::string(image_.source->op_name(n)) + " is not valid: "; };
      if (auto why = validity_.check(n); !why.empty()) return name() + why;
      if (options_.trust_shapes) continue;
      for (auto const& open : validity_.open())
        if (!required_.imply(open)) return name() + validity_.text(open);
    }
    return {};
  }

  // What the caller's check finds, if there is one.
  [[nodiscard]] check_result check() {
    if (options_.check == nullptr) return {};
    return options_.check({image_, facts_, names_, roots_, made_, match_.matched(), first_node(), changes_.shared()});
  }

  // Whether a node is there for what is replaced alone, so that it goes with that; not where more than `left` nodes
  // stand between.
  [[nodiscard]] bool goes(node_id n, int& left) const {
    if (--left < 0 || n >= first_node() || image_.node(n).has_bodies) return false;
    bool is_used = false, all_go = true;
    for (std::uint32_t i = 0; i < image_.node(n).result_count; ++i) {
      auto const v = image_.result(n, i);
      is_used = is_used || is_root(v) || !image_.unused(v);
      if (is_root(v)) continue;
      all_go = all_go && image_.value(v).outputs == 0;
      image_.for_each_user(v, [&](node_id user) { all_go = all_go && goes(user, left); });
    }
    return is_used && all_go;
  }
  // A place after everything that new nodes read and before everything that uses the roots and stays. There is none
  // where a new node reads a root: it would read itself.
  bool find_place(node_id& place) const {
    auto const first = first_node();
    auto const region = image_.node(root_).region;
    node_id after = absent;
    for (auto n = first; n < image_.node_count(); ++n)
      for (std::uint32_t i = 0; i < image_.operand_count(n); ++i) {
        auto const v = image_.operand(n, i);
        auto const p = v == absent ? absent : image_.producer(v);
        if (p != absent && p < first && (after == absent || image_.node(p).order > image_.node(after).order)) after = p;
      }
    auto before = ~std::uint64_t{0};
    bool reads_itself = false;
    for (auto v : roots_)
      image_.for_each_user(v, [&](node_id user) {
        reads_itself = reads_itself || user >= first;
        bool root = false;
        for (auto r : roots_) root = root || image_.producer(r) == user;
        if (int left = 64; user < first && !root && image_.node(user).order < before && !goes(user, left))
          before = image_.node(user).order;
      });
    auto at = root_;  // the first node after `after`; without it, the earliest root will do
    if (after != absent) {
      at = image_.node(after).next;
    } else {
      for (auto v : roots_)
        if (image_.node(image_.producer(v)).order < image_.node(at).order) at = image_.producer(v);
    }
    while (at != absent && image_.node(at).region != region) at = image_.node(at).next;
    place = at;
    return at != absent && !reads_itself && image_.node(at).order <= before;
  }

  // What new nodes, or readers of what is replaced, would read although it is replaced itself, comes later than they
  // do, or is not seen where they are; else absent. Linear in what is new and in the uses of several roots.
  [[nodiscard]] value_id read_too_late(node_id place) const {
    auto const first = first_node();
    auto const readable = [&](value_id v, std::uint32_t region, std::uint64_t order) {
      auto const p = image_.producer(v);
      return !is_root(v) && image_.visible(image_.value(v).region, region) &&
             (p == absent || p >= first || image_.node(p).order < order);
    };
    for (auto n = first; n < image_.node_count(); ++n)
      for (std::uint32_t i = 0; i < image_.operand_count(n); ++i)
        if (auto const v = image_.operand(n, i);
            v != absent && !readable(v, image_.node(n).region, image_.node(place).order))
          return v;
    for (std::size_t i = 0; i < roots_.size(); ++i) {
      auto const made = made_[i];
      auto earliest = image_.node(root_).order;
      if (roots_.size() > 1) {
        earliest = ~std::uint64_t{0};
        image_.for_each_user(roots_[i], [&](node_id user) {
          if (user < first && image_.node(user).order < earliest) earliest = image_.node(user).order;
        });
      }
      if (!readable(made, image_.value(roots_[i]).region, earliest)) return made;
    }
    return absent;
  }

  // `whole`: also where it is clear already that it pays.
  rewrite_cost cost(bool whole) {
    rewrite_cost made;
    for (auto n = first_node(); n < image_.node_count(); ++n) made.added += traffic_.of(n);
    made.removed = whole || options_.veto != nullptr
                       ? traffic_.saved(roots_, match_.matched(), right_.passed(), first_node())
                       : traffic_.saved(roots_, match_.matched(), right_.passed(), first_node(), made.added);
    made.constants_added = changes_.constant_bytes();
    return made;
  }

  // Not those of a result that a node had before it was made anew for the sake of another result: of one that
  // many matches share, it would be all of them over and over.
  void list_readers() {
    readers_.clear();
    auto const list = [&](value_id v, value_id of) {
      image_.for_each_user(v, [&](node_id user) { readers_.push_back({user, of}); });
    };
    for (std::size_t i = 0; i < roots_.size(); ++i) {
      auto const made = made_[i];
      if (!is_new(made)) list(made, made);
      if (!is_new(made) || !says_the_same(image_.producer(made), image_.producer(roots_[i]))) list(roots_[i], made);
    }
  }

  void replace() {
    for (std::size_t i = 0; i < roots_.size(); ++i) {
      image_.source->replace_uses(roots_[i], made_[i]);
      image_.redirect(roots_[i], made_[i]);
    }
  }

  // What nobody reads any more.
  void erase_dead() {
    dead_ = roots_;
    while (!dead_.empty()) {
      auto const v = dead_.back();
      dead_.pop_back();
      if (!image_.unused(v)) continue;  // most operands
      auto const n = image_.producer(v);
      if (n == absent || !image_.node(n).alive || image_.node(n).has_bodies || image_.is_read(n)) continue;
      for (std::uint32_t i = 0; i < image_.operand_count(n); ++i)
        if (auto const operand = image_.operand(n, i); operand != absent) {
          dead_.push_back(operand);
          if (counts_users_of(operand)) less_read_.push_back(operand);
        }
      image_.source->erase(n);
      image_.erase(n);
    }
    list_less_read();
    readers_.erase_if([&](reader const& r) { return !image_.node(r.node).alive; });
  }
  // Where rules count users, or a condition did: whoever reads what a node that is gone has read.
  void list_less_read() {
    for (auto v : less_read_)
      if (auto const n = image_.producer(v); n == absent || image_.node(n).alive)
        image_.for_each_user(v, [&](node_id user) { readers_.push_back({user, n == absent ? absent : v}); });
    less_read_.clear();
  }
  [[nodiscard]] bool counts_users_of(value_id v) const {
    auto const n = image_.producer(v);
    return image_.value(v).watched || (n != absent && counted_.has(op_of(image_, n)));
  }

  // What is made now may not be known to be the number that it was, or be known to be one first; so may what is
  // computed from it.
  void update_contents() {
    for (std::size_t i = 0; i < roots_.size(); ++i)
      if (facts_.contents_number(roots_[i]) != facts_.contents_number(made_[i]))
        image_.for_each_user(made_[i], [&](node_id user) { stale_.push_back(user); });
    while (!stale_.empty()) {
      auto const n = stale_.back();
      stale_.pop_back();
      if (!facts_.update_contents(n)) continue;
      for (std::uint32_t k = 0; k < image_.node(n).result_count; ++k)
        image_.for_each_user(image_.result(n, k), [&](node_id user) {
          stale_.push_back(user);
          readers_.push_back({user, absent});
        });
    }
  }

  program const& rules_;
  match_state const& match_;
  Image& image_;
  facts& facts_;
  dialect const& names_;
  rewrite_options const& options_;
  traffic traffic_;
  validity validity_;
  basic_transaction<Image> changes_;
  basic_matched_requirements<Image> required_;
  basic_instantiation<Image> right_;
  node_id root_ = absent;
  plain_vector<value_id> roots_, made_;  // what is replaced, each by what is made at the same place
  struct same_nodes {
    node_id node, old;
  };
  plain_vector<same_nodes> same_;
  plain_vector<reader> readers_;
  plain_vector<node_id> stale_;
  plain_vector<value_id> dead_, less_read_;
  basic_infinite_terms<Image> infinite_;
  basic_narrowing<Image> narrowing_;
  basic_other_results<Image> others_;
  opcode_set counted_{};  // of whose results some rule counts the users
};
using application = basic_application<graph_image>;

}  // namespace fuse::inline v0::detail
