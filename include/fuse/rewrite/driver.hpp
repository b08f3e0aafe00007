// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fuse/match/machine.hpp>
#include <fuse/rewrite/cost.hpp>
#include <fuse/rewrite/instantiation.hpp>
#include <fuse/rewrite/near_misses.hpp>
#include <fuse/rewrite/options.hpp>
#include <fuse/rewrite/report.hpp>

namespace fuse::inline v0::detail {

/// Applies a program to an image until nothing changes: stage by stage, users before producers, so that a larger match
/// is seen before a smaller one inside it. Deterministic. A rewrite that is refused leaves no trace; linear in
/// practice, since a change only brings back the nodes around it.
template <class Image>
class basic_driver final : machine::acceptor {
 public:
  basic_driver(program const& rules, Image& image, facts& known, dialect const& names, rewrite_options const& options,
               rewrite_report& report)
      : rules_(rules),
        image_(image),
        facts_(known),
        names_(names),
        options_(options),
        report_(report),
        machine_(rules, image, known, names),
        near_misses_(machine_, image, known, names),
        traffic_(image, known),
        changes_(image, known, false),
        right_(machine_, image, known, names, options.target, changes_),
        selected_(rules.rules.size(), true),
        begins_(static_cast<std::size_t>(opcode::count_)),
        last_stage_(begins_.size(), -1) {
    report_.rules.resize(rules.rules.size());
    for (std::size_t i = 0; i < rules.rules.size(); ++i) report_.rules[i].name = rules.rules[i].name;
    list_last_stages();
    if (!select()) return;
    fused_.resize(image.node_count(), false);
  }

  void run() {
    if (!report_.error.empty()) return;
    budget_ = std::size_t{16} * image_.node_count() + 1024;
    half_budget_ = budget_ / 2;
    for (int stage = 0; stage < rules_.stages && budget_ != 0; ++stage) {
      enter_stage(stage);
      if (std::exchange(changed_, false)) machine_.look();
      visit_all();
      waiting_.clear();
      if (options_.near_misses) add_near_misses();
    }
    // What a later stage made may be what an earlier one looks for: once more around it, until nothing is.
    while (!late_.empty() && budget_ != 0) {
      auto const again = std::exchange(late_, {});
      for (int stage = 0; stage < rules_.stages; ++stage) {
        enter_stage(stage);
        waiting_ = again;
        visit_waiting();
      }
      waiting_.clear();
    }
    if (budget_ == 0) name_the_restless();
    if (exceeded_ != 0)
      report_.notes.push_back("the search at " + std::to_string(exceeded_) + " nodes reached the bound of " +
                              std::to_string(machine::step_limit) + " steps, and was cut off there");
    if (bounded_ != 0)
      report_.notes.push_back("the search at " + std::to_string(bounded_) +
                              " nodes met a sum or product of more than " + std::to_string(opened_group::capacity) +
                              " parts with the operators between them, the rest of which stayed closed");
    settle_refusals();
  }

  /// Whether a node took part in a rewrite.
  [[nodiscard]] bool fused(node_id n) const { return n < fused_.size() && fused_[n]; }
  [[nodiscard]] std::vector<bool> const& selected() const { return selected_; }

 private:
  // Time is told apart by phases, for whoever has a clock.
  struct phase {
    observer const& to;
    explicit phase(observer const& who) : to(who) { tell("rewrite"); }
    phase(phase const&) = delete;
    phase& operator=(phase const&) = delete;
    ~phase() { tell("match"); }
    void tell(std::string_view name) const {
      if (to.phase != nullptr) to.phase(to.context, name);
    }
  };
  struct candidate_refusal {
    std::uint16_t rule;
    node_id root, witness;
    std::string node, condition, reason;
    bool lasting = false;  // also where a smaller rule applies
  };

  bool select() {
    auto const find = [&](std::string const& name) {
      for (std::size_t i = 0; i < rules_.rules.size(); ++i)
        if (rules_.rules[i].name == name) return static_cast<std::ptrdiff_t>(i);
      report_.error = "there is no rule '" + name + "'; the rules are";
      for (auto const& r : rules_.rules) report_.error += " " + std::string(r.name);
      return std::ptrdiff_t{-1};
    };
    if (!options_.only.empty()) selected_.assign(selected_.size(), false);
    for (auto const& name : options_.only) {
      auto const at = find(name);
      if (at < 0) return false;
      selected_[static_cast<std::size_t>(at)] = true;
    }
    for (auto const& name : options_.except) {
      auto const at = find(name);
      if (at < 0) return false;
      selected_[static_cast<std::size_t>(at)] = false;
    }
    return true;
  }

  // Every node, users before producers. Later stages pass over those that are gone by then, or that none begins at.
  void visit_all() {
    auto const listed = nodes_.size(), all = listed + image_.node_count() - listed_;
    nodes_.resize(all);
    for (auto at = listed; at < all; ++at) nodes_[at] = listed_++;
    auto kept = all;
    for (auto at = all; at-- > 0;) {
      auto const n = nodes_[at];
      auto const& node = image_.node(n);
      if (!node.alive) continue;
      if (last_stage_[node.tag.op] > stage_ || last_stage_by_name(node.tag.name) > stage_) nodes_[--kept] = n;
      if (matters(n)) {
        visit(n);
        visit_waiting();
      }
      if (at % 4096 == 0 && options_.observer.progress != nullptr)
        options_.observer.progress(options_.observer.context, stage_, all - at, all);
    }
    nodes_.erase(nodes_.begin(), nodes_.begin() + static_cast<std::ptrdiff_t>(kept));
  }

  // The last stage in which a rule begins at an operator.
  void list_last_stages() {
    for (std::size_t op = 0; op < last_stage_.size(); ++op)
      for (int stage = 0; stage < rules_.stages; ++stage)
        if (machine_.begins(static_cast<opcode>(op), stage)) last_stage_[op] = stage;
    for (auto const& e : rules_.entries) {
      if (!e.by_name) continue;
      if (e.tag >= last_stage_by_name_.size()) last_stage_by_name_.resize(e.tag + std::size_t{1}, -1);
      if (e.stage > last_stage_by_name_[e.tag]) last_stage_by_name_[e.tag] = e.stage;
    }
  }
  [[nodiscard]] int last_stage_by_name(std::uint16_t name) const {
    return name < last_stage_by_name_.size() ? last_stage_by_name_[name] : -1;
  }

  // Where rules of a stage begin: at most nodes none does.
  void enter_stage(int stage) {
    stage_ = stage;
    for (std::size_t op = 0; op < begins_.size(); ++op) begins_[op] = machine_.begins(static_cast<opcode>(op), stage);
    begins_by_name_.clear();
    for (auto const& e : rules_.entries) {
      if (e.stage != stage || !e.by_name) continue;
      if (e.tag >= begins_by_name_.size()) begins_by_name_.resize(e.tag + std::size_t{1}, false);
      begins_by_name_[e.tag] = true;
    }
  }
  [[nodiscard]] bool matters(node_id n) const {
    auto const& node = image_.node(n);
    return node.alive &&
           (begins_[node.tag.op] || (node.tag.name < begins_by_name_.size() && begins_by_name_[node.tag.name]));
  }

  void visit(node_id n) {
    if (budget_ == 0) return;
    root_ = n;
    pending_.clear();
    computed_in_ = wider_ = element_type::unknown;
    bool applied = machine_.run(n, stage_, *this);
    if (!applied && wider_ != element_type::unknown) {
      // A scale is wider than what is normed: the norm in the wider type, between two Casts.
      computed_in_ = wider_;
      applied = machine_.run(n, stage_, *this);
    }
    if (machine_.exceeded()) ++exceeded_;
    if (!applied && machine_.bounded()) ++bounded_;
    if (!applied)
      for (auto& r : pending_) refusals_.push_back(std::move(r));
    pending_.clear();
  }

  // A condition of a match that is otherwise complete.
  void refuse(std::uint16_t rule, std::uint16_t condition) override {
    if (!selected_[rule]) return;
    auto const& c = rules_.conditions[condition].what;
    std::string text(c.name.empty() ? std::string_view("a predicate") : c.name);
    std::string names;
    for (std::size_t i = 0; i < c.count; ++i) names += (i == 0 ? "" : ", ") + std::string(c.captures[i]);
    refuse(rule, text, "the condition '" + text + "' of (" + names + ") does not hold");
  }
  bool refuse(std::uint16_t rule, std::string condition, std::string reason) {
    if (rules_.rules[rule].silent) return false;
    for (auto const& r : pending_)
      if (r.rule == rule && r.reason == reason) return false;
    pending_.push_back(
        {rule, root_, witness(), image_.source->node_name(root_), std::move(condition), std::move(reason), false});
    return false;
  }

  // The node that tells matches of one thing apart: the last reduction, else the first node.
  [[nodiscard]] node_id witness() const {
    auto const all = machine_.matched();
    for (std::size_t i = all.size(); i-- > 0;)
      if (info(op_of(image_, all[i])).kind == op_kind::reduction) return all[i];
    return all.empty() ? root_ : all[0];
  }

  bool accept(std::uint16_t rule) override {
    if (!selected_[rule]) return false;
    auto const& known = rules_.rules[rule];
    phase rewriting(options_.observer);
    roots_.clear();
    roots_.push_back(machine_.value(0));
    for (std::uint8_t i = 1; i < known.root_count; ++i) roots_.push_back(machine_.value(known.root_registers[i]));
    if (roots_.size() > 1)  // several results are worth one operator only where each is wanted
      for (auto v : roots_)
        if (image_.value(v).use_count == 0 && image_.value(v).outputs == 0) return false;
    auto const origin = image_.source->node_name(root_);
    auto& changes = changes_;
    auto& right = right_;
    changes.open();
    struct rollback {
      basic_transaction<Image>& of;
      ~rollback() { of.roll_back(); }
    } const unless_committed{changes};
    bool const built = right.build(rule, root_, computed_in_);
    if (built && unchanged(changes, right.roots)) return false;
    if (!refused_before(rule)) ++report_.rules[rule].matched;
    if (auto const narrow = narrowed(); !narrow.empty()) return refuse(rule, "element type", narrow);
    if (!built) {
      if (right.wider != element_type::unknown) wider_ = right.wider;
      return refuse(rule, "right side", right.reason);
    }
    if (!take_other_results(right.roots))
      return refuse(rule, "results", "another result of the replaced node is used, which the new node does not have");
    for (std::size_t i = 0; i < roots_.size(); ++i) {
      if (auto const why = unfit(right.roots[i], roots_[i]); !why.empty())
        return refuse(rule, "shape and element type", why);
    }
    node_id place = root_;
    if (roots_.size() > 1 && !find_place(changes.first_node(), place))
      return refuse(rule, "order",
                    "there is no place for the new node between what it needs and what needs it: a cycle would arise");
    rewrite_cost cost;
    for (auto n = changes.first_node(); n < image_.node_count(); ++n) cost.added += traffic_.of(n);
    cost.removed = options_.veto != nullptr ? traffic_.saved(roots_, machine_.matched())
                                            : traffic_.saved(roots_, machine_.matched(), cost.added);
    cost.constants_added = changes.constant_bytes();
    if (known.equal_cost ? cost.added > cost.removed : cost.added >= cost.removed)
      return refuse(rule, "cost",
                    "the rewrite would move " + std::to_string(static_cast<long long>(cost.added)) + " bytes to save " +
                        std::to_string(static_cast<long long>(cost.removed)));
    if (options_.veto != nullptr && options_.veto(options_.veto_context, known.name, cost))
      return refuse(rule, "veto", "the caller's cost hook refused the rewrite");

    auto const first = changes.first_node();
    fused_now_.assign(machine_.matched().begin(), machine_.matched().end());
    if (auto const why = changes.commit(place, origin); !why.empty()) return refuse(rule, "graph", std::string(why));
    apply(first, right.roots);
    ++report_.rules[rule].applied;
    if (budget_ != 0 && --budget_ == half_budget_) half_way_ = report_.rules;
    if (options_.observer.applied != nullptr) options_.observer.applied(options_.observer.context, known.name, origin);
    return true;
  }

  [[nodiscard]] bool refused_before(std::uint16_t rule) const {
    for (auto const& r : pending_)
      if (r.rule == rule) return true;
    return false;
  }

  // Nothing that is looked through or computed inside may be narrower than the result.
  [[nodiscard]] std::string narrowed() const {
    auto const wanted = facts_.type(roots_[0]);
    if (wanted == element_type::unknown)
      return options_.trust_shapes ? std::string() : "the element type of the result is not known";
    if (!is_floating(wanted)) return {};
    for (auto n : machine_.matched())
      for (std::uint32_t i = 0; i < image_.node(n).result_count; ++i) {
        auto const type = facts_.type(image_.result(n, i));
        if (type == wanted || type == element_type::unknown || !is_floating(type)) continue;
        if (!widens(wanted, type))
          return "inside, " + image_.source->node_name(n) + " computes in " + std::string(name_of(type)) +
                 ", which is narrower than the result's " + std::string(name_of(wanted));
      }
    return {};
  }

  // Whether the right side is the graph as it is: the root itself, or one new node that says the same as the root's.
  [[nodiscard]] bool unchanged(basic_transaction<Image> const& changes, std::vector<value_id> const& made) const {
    auto const first = changes.first_node();
    if (made[0] == roots_[0]) return true;
    auto const n = image_.producer(made[0]);
    return roots_.size() == 1 && n == first && image_.node_count() == first + 1 &&
           says_the_same(n, image_.producer(roots_[0]));
  }
  // Whether new node `n` is `old` once more: the same operator with the same attributes on the same operands.
  [[nodiscard]] bool says_the_same(node_id n, node_id old) const {
    if (n == absent || old == absent) return false;
    auto const &tag = image_.node(n).tag, &old_tag = image_.node(old).tag;
    if (tag.name != old_tag.name || (tag.name == 0 && image_.source->op_name(n) != image_.source->op_name(old)))
      return false;
    if (!changes_.says_the_same(n, old)) return false;
    std::uint32_t const count = image_.operand_count(n), old_count = image_.operand_count(old);
    for (std::uint32_t i = 0; i < count || i < old_count; ++i)
      if ((i < count ? image_.operand(n, i) : absent) != (i < old_count ? image_.operand(old, i) : absent))
        return false;
    return true;
  }

  [[nodiscard]] bool is_root(value_id v) const {
    for (auto r : roots_)
      if (r == v) return true;
    return false;
  }

  // Where a new node of the same operator has them, it also takes over the replaced node's other results.
  bool take_other_results(std::vector<value_id>& made) {
    auto const count = roots_.size();
    for (std::size_t i = 0; i < count; ++i) {
      auto const n = image_.producer(made[i]), old = image_.producer(roots_[i]);
      if (n == absent || old == absent) continue;
      bool const alike = image_.node(n).tag.op == image_.node(old).tag.op;
      for (std::uint32_t k = 0; k < image_.node(old).result_count; ++k) {
        auto const v = image_.result(old, k);
        if (is_root(v) || (image_.value(v).use_count == 0 && image_.value(v).outputs == 0)) continue;
        if (!alike || k >= image_.node(n).result_count) {
          if (count > 1) return false;
          continue;
        }
        roots_.push_back(v);
        made.push_back(image_.result(n, k));
      }
    }
    return true;
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

  // A place after everything that new nodes read and before everything that uses the roots. There is none where a new
  // node reads a root: it would read itself.
  bool find_place(node_id first, node_id& place) const {
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
        if (user < first && !root && image_.node(user).order < before) before = image_.node(user).order;
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

  void visit_waiting() {
    while (!waiting_.empty() && budget_ != 0) {
      auto const next = waiting_.back();
      waiting_.pop_back();
      if (matters(next)) visit(next);
    }
  }

  void apply(node_id first, std::vector<value_id> const& made) {
    changed_ = true;
    auto const last = image_.node_count();
    auto const is_new = [&](value_id v) { return image_.producer(v) != absent && image_.producer(v) >= first; };
    // Who reads what changes: not a result that a node had before it was made anew for the sake of another result. Of
    // a statistic that many norms share, it would be all of them over and over.
    readers_.clear();
    for (std::size_t i = 0; i < roots_.size(); ++i)
      if (is_new(made[i]) && !says_the_same(image_.producer(made[i]), image_.producer(roots_[i])))
        image_.for_each_user(roots_[i], [&](node_id user) { readers_.push_back(user); });
    for (std::size_t i = 0; i < roots_.size(); ++i) {
      image_.source->replace_uses(roots_[i], made[i]);
      image_.redirect(roots_[i], made[i]);
    }
    if (fused_.size() < last) fused_.resize(last + last / 8, false);
    for (auto n : fused_now_) fused_[n] = true;
    dead_.clear();
    for (auto v : roots_) dead_.push_back(image_.producer(v));
    while (!dead_.empty()) {
      auto const n = dead_.back();
      dead_.pop_back();
      if (n == absent || !image_.node(n).alive || image_.node(n).has_bodies || used(n)) continue;
      for (std::uint32_t i = 0; i < image_.operand_count(n); ++i)
        if (auto const v = image_.operand(n, i); v != absent) dead_.push_back(image_.producer(v));
      image_.source->erase(n);
      image_.erase(n);
    }
    // What changed may match again: whatever reads it, and the new nodes.
    auto const waited = static_cast<std::ptrdiff_t>(waiting_.size());
    for (auto n = first; n < last; ++n) machine_.add(n);
    auto const again = [&](node_id reader) {
      machine_.look(reader);
      waiting_.push_back(reader);
    };
    for (auto v : made)
      if (!is_new(v)) image_.for_each_user(v, again);
    for (; !readers_.empty(); readers_.pop_back())
      if (image_.node(readers_.back()).alive) again(readers_.back());
    for (auto n = last; n-- > first;) waiting_.push_back(n);
    if (stage_ != 0) late_.insert(late_.end(), waiting_.begin() + waited, waiting_.end());
  }
  [[nodiscard]] bool used(node_id n) const {
    for (std::uint32_t i = 0; i < image_.node(n).result_count; ++i) {
      auto const& v = image_.value(image_.result(n, i));
      if (v.use_count != 0 || v.outputs != 0) return true;
    }
    return false;
  }

  // By stages, before smaller rules take what is left.
  void add_near_misses() {
    near_misses_.find(
        stage_, selected_, [&](node_id n) { return fused(n); },
        [&](explanation const& why) {
          refusals_.push_back({why.rule, why.node, why.node, image_.source->node_name(why.node), why.condition,
                               to_text(why), why.other_reduction});
        });
  }

  // A refusal counts unless the same thing was rewritten after all and is gone, or the rule was refused at a larger
  // match around it.
  void settle_refusals() {
    if (refusals_.empty()) return;
    std::vector<candidate_refusal const*> said;  // at one root
    for (auto const* by_root : refusals_by_root()) {
      auto const& r = *by_root;
      if (fused(r.witness) && !image_.node(r.witness).alive && !r.lasting) continue;
      if (!said.empty() && said.front()->root != r.root) said.clear();
      int of_rule = 0;
      bool alike = false;
      for (auto const* other : said) {
        of_rule += other->rule == r.rule ? 1 : 0;
        alike = alike || (other->rule == r.rule && other->condition == r.condition);
      }
      if (alike || of_rule >= 3) continue;
      said.push_back(&r);
      report_.rules[r.rule].refused.push_back({r.node, r.condition, r.reason});
    }
  }

  // In the order of their roots, then as they came.
  [[nodiscard]] std::vector<candidate_refusal const*> refusals_by_root() const {
    std::vector<std::uint32_t> place(image_.node_count() + 1, 0);
    for (auto const& r : refusals_) ++place[r.root + 1];
    for (std::size_t n = 1; n < place.size(); ++n) place[n] += place[n - 1];
    std::vector<candidate_refusal const*> sorted(refusals_.size());
    for (auto const& r : refusals_) sorted[place[r.root]++] = &r;
    return sorted;
  }

  void name_the_restless() {
    std::string names;
    for (std::size_t i = 0; i < half_way_.size(); ++i)  // those that have gone on beyond any number of useful rewrites
      if (report_.rules[i].applied != half_way_[i].applied) names += " " + report_.rules[i].name;
    report_.notes.push_back("the budget of rewrites is used up; rules that keep undoing each other:" + names +
                            "; the graph is as they left it");
  }

  program rules_;
  Image& image_;
  facts& facts_;
  dialect const& names_;
  rewrite_options const& options_;
  rewrite_report& report_;
  machine machine_;
  basic_near_misses<Image> near_misses_;
  traffic traffic_;
  basic_transaction<Image> changes_;
  basic_instantiation<Image> right_;
  std::vector<bool> selected_, fused_;
  std::vector<std::uint8_t> begins_, begins_by_name_;  // by opcode, by code of a name
  std::vector<int> last_stage_, last_stage_by_name_;
  std::vector<node_id> waiting_, late_, dead_, fused_now_, readers_;
  std::vector<node_id> nodes_;  // of the first `listed_`, those that a stage left for later ones
  node_id listed_ = 0;
  std::vector<value_id> roots_;
  std::vector<candidate_refusal> pending_, refusals_;
  int stage_ = 0;
  bool changed_ = false;  // since the machine last took in the whole image
  element_type computed_in_ = element_type::unknown, wider_ = element_type::unknown;
  node_id root_ = absent;
  std::size_t budget_ = 0, exceeded_ = 0, bounded_ = 0;
  std::size_t half_budget_ = 0;
  std::vector<rule_report> half_way_;
};
using driver = basic_driver<graph_image>;

}  // namespace fuse::inline v0::detail
