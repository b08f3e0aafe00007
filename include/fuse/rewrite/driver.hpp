// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fuse/match/machine.hpp>
#include <fuse/rewrite/application.hpp>
#include <fuse/rewrite/near_misses.hpp>
#include <fuse/rewrite/options.hpp>
#include <fuse/rewrite/refusals.hpp>
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
        options_(options),
        report_(report),
        machine_(rules, image, known, names),
        near_misses_(machine_, image, known, names),
        application_(machine_, image, known, names, options),
        refusals_(image),
        selected_(rules.rules.size(), true),
        begins_(static_cast<std::size_t>(opcode::count_)),
        last_stage_(begins_.size(), -1),
        above_(begins_.size(), -1),
        most_before_(rules.code.size(), -1) {
    report_.rules.resize(rules.rules.size());
    for (std::size_t i = 0; i < rules.rules.size(); ++i) report_.rules[i].name = rules.rules[i].name;
    list_last_stages();
    list_operators_above();
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
      auto const before = costly_.size();
      visit_all();
      for (int i = 0; i < cost_rounds && may_pay(before); ++i) {
        list_costly(before, waiting_);
        visit_waiting();
      }
      waiting_.clear();
      if (options_.near_misses) add_near_misses();
    }
    // What a later stage made may be what an earlier one looks for, or have replaced what made a match too dear: once
    // more around it, until nothing is.
    late_rounds_ = true;
    for (int i = 0; (!late_.empty() || (i < cost_rounds && may_pay(0))) && budget_ != 0; ++i) {
      auto again = std::exchange(late_, {});
      if (i < cost_rounds && may_pay(0)) list_costly(0, again);
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
    refusals_.tell(report_, [&](auto const& r) { return stands(r); });
  }

  /// Whether a node took part in a rewrite.
  [[nodiscard]] bool fused(node_id n) const { return n < fused_.size() && fused_[n]; }
  [[nodiscard]] std::vector<bool> const& selected() const { return selected_; }

 private:
  using refusal = typename basic_refusals<Image>::refusal;

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
    computed_in_ = wider_ = element_type::unknown;
    bool applied = machine_.run(n, stage_, *this);
    if (!applied && wider_ != element_type::unknown) {
      // A scale is wider than what is normed: the norm in the wider type, between two Casts.
      computed_in_ = wider_;
      applied = machine_.run(n, stage_, *this);
    }
    if (machine_.exceeded()) ++exceeded_;
    if (!applied && machine_.bounded()) ++bounded_;
    refusals_.leave(applied);
  }

  // A condition of a match that is otherwise complete.
  void refuse(std::uint16_t rule, std::uint16_t condition) override {
    if (!selected_[rule]) return;
    auto const& c = rules_.conditions[condition].what;
    std::string text(c.name.empty() ? std::string_view("a predicate") : c.name);
    std::string names;
    for (std::size_t i = 0; i < c.count; ++i) names += (i == 0 ? "" : ", ") + std::string(c.captures[i]);
    auto reason = "the condition '" + text + "' of (" + names + ") does not hold";
    refuse(rule, std::move(text), std::move(reason), false);
  }
  void refuse(std::uint16_t rule, std::string condition, std::string reason, bool matched) {
    refusals_.add({rule, root_, witness(), image_.source->node_name(root_), std::move(condition), std::move(reason),
                   matched, rules_.rules[rule].silent});
  }

  // Whether a refusal is news in the end: not where the same thing was rewritten after all and is gone, and of a quiet
  // rule only where it is found in the graph as it is left.
  [[nodiscard]] bool stands(refusal const& r) {
    if (fused(r.witness) && !image_.node(r.witness).alive && !r.lasting) return false;
    if (!r.quiet) return true;
    finder again(r.rule);
    if (image_.node(r.root).alive) machine_.run(r.root, rules_.rules[r.rule].stage, again);
    return r.matched ? again.matched : again.refused;
  }
  // Whether a rule is found at a node: whole, or but for a condition.
  struct finder final : machine::acceptor {
    explicit finder(std::uint16_t wanted) : rule(wanted) {}
    bool accept(std::uint16_t found) override {
      matched = matched || found == rule;
      return false;
    }
    void refuse(std::uint16_t found, std::uint16_t) override { refused = refused || found == rule; }
    std::uint16_t rule;
    bool matched = false, refused = false;
  };

  // The node that tells matches of one thing apart: the last reduction, else the first node.
  [[nodiscard]] node_id witness() const {
    auto const all = machine_.matched();
    for (std::size_t i = all.size(); i-- > 0;)
      if (info(op_of(image_, all[i])).kind == op_kind::reduction) return all[i];
    return all.empty() ? root_ : all[0];
  }

  bool accept(std::uint16_t rule) override {
    if (!selected_[rule]) return false;
    phase const rewriting(options_.observer);
    auto const origin = image_.source->node_name(root_);
    auto const outcome = application_.apply(rule, root_, computed_in_, origin);
    if (outcome == rewrite_outcome::unchanged) return false;
    if (outcome == rewrite_outcome::refused) {
      if (application_.wider() != element_type::unknown) wider_ = application_.wider();
      if (application_.costly() && (costly_.empty() || costly_.back().root != root_))
        costly_.push_back({root_, applied_});
      refuse(rule, application_.condition(), application_.reason(), true);
      return false;
    }
    ++applied_;
    look_again();
    ++report_.rules[rule].matched;
    ++report_.rules[rule].applied;
    if (budget_ != 0 && --budget_ == half_budget_) half_way_ = report_.rules;
    auto const& to = options_.observer;
    if (to.applied != nullptr) to.applied(to.context, rules_.rules[rule].name, origin);
    return true;
  }

  // A match that costs more than it saves while others use what it would replace may pay once these are gone.
  static constexpr int cost_rounds = 8;
  struct costly_match {
    node_id root;
    std::size_t applied;  // how many rewrites there had been
  };
  // Whether something was rewritten since the first of those from `first` on was refused.
  [[nodiscard]] bool may_pay(std::size_t first) const {
    return first < costly_.size() && costly_[first].applied != applied_ && budget_ != 0;
  }
  // Takes out the roots of those from `first` on, which are looked at anew.
  void list_costly(std::size_t first, std::vector<node_id>& into) {
    for (auto at = costly_.size(); at-- > first;)
      if (auto const root = costly_[at].root; image_.node(root).alive && (into.empty() || into.back() != root))
        into.push_back(root);
    costly_.resize(first);
  }

  // How many operators may stand above what computes `v`; none where it is no part of a pattern that has any.
  [[nodiscard]] int above(value_id v) const {
    auto const n = image_.producer(v);
    if (n == absent) return -1;
    auto const op = op_of(image_, n);
    bool const anywhere = info(op).group != op_group::none || op == opcode::neg || may_keep_elements(op);
    return anywhere ? most_above_ : above_[static_cast<std::size_t>(op)];
  }

  // What changed may match again: whatever reads it, and the new nodes.
  void look_again() {
    changed_ = true;
    auto const first = application_.first_node(), last = image_.node_count();
    if (fused_.size() < last) fused_.resize(last + last / 8, false);
    for (auto n : machine_.matched()) fused_[n] = true;
    auto const waited = static_cast<std::ptrdiff_t>(waiting_.size());
    for (auto n = first; n < last; ++n) machine_.add(n);
    auto const readers = application_.readers();
    for (auto i = readers.size(); i-- > 0;)
      look_at(readers[i].node, readers[i].of == absent ? most_above_ : above(readers[i].of));
    for (auto n = last; n-- > first;) waiting_.push_back(n);
    if (stage_ != 0 || late_rounds_) late_.insert(late_.end(), waiting_.begin() + waited, waiting_.end());
  }

  // What reads something new, and what may be the root of a pattern that has it inside, so many `operators` further up.
  // Sums and products of one another count for none, up to as many as are opened; nor does what leaves it as it is.
  void look_at(node_id reader, int operators) {
    machine_.look(reader);
    climb_.assign(1, {reader, operators, most_parts});
    if (seen_.size() < image_.node_count()) seen_.resize(image_.node_count() + image_.node_count() / 8, 0);
    ++round_;
    while (!climb_.empty()) {
      auto at = climb_.back();
      climb_.pop_back();
      if (std::exchange(seen_[at.node], round_) == round_) continue;
      waiting_.push_back(at.node);
      auto const op = op_of(image_, at.node);
      bool const group = info(op).group != op_group::none || op == opcode::neg;
      if (group || (may_keep_elements(op) && unchanged(image_, facts_, at.node))) {
        if (--at.parts < 0 || (group && at.operators < 0)) continue;
      } else if (--at.operators < 0 || above_[static_cast<std::size_t>(op)] < 0) {
        continue;
      }
      for (std::uint32_t k = 0; k < image_.node(at.node).result_count; ++k)
        image_.for_each_user(image_.result(at.node, k), [&](node_id user) {
          climb_.push_back({user, at.operators, at.parts});
        });
    }
  }

  // For each operator that rules have: how many operators, sums and products aside, may stand above it in a pattern.
  void list_operators_above() {
    for (auto const& e : rules_.entries) list_operators_above(e.first, 0);
    auto const also = [&](opcode op, opcode as) {
      auto& above = above_[static_cast<std::size_t>(op)];
      above = std::max(above, above_[static_cast<std::size_t>(as)]);
    };
    // A mean may be a sum, or one of squares, that is divided.
    for (auto op : {opcode::sum_square, opcode::l2_norm}) also(op, opcode::sum);
    for (auto op : {opcode::sum, opcode::sum_square, opcode::l2_norm}) also(op, opcode::mean);
    for (auto const& set : rules_.sets)
      for (std::size_t i = 0; i < set.count; ++i) {
        auto const op = set.by_name[i] ? opcode::opaque : static_cast<opcode>(set.ops[i]);
        above_[static_cast<std::size_t>(op)] = std::max(above_[static_cast<std::size_t>(op)], most_above_);
      }
  }
  void list_operators_above(std::uint16_t pc, int above) {
    for (; pc != no_instruction && most_before_[pc] < above; pc = rules_.code[pc].next) {
      most_before_[pc] = above;
      auto const& i = rules_.code[pc];
      if (i.code == step::fork) list_operators_above(i.other, above);
      if (i.code != step::operation && i.code != step::reduction && i.code != step::exactly) continue;
      auto& most =
          above_[static_cast<std::size_t>(i.code == step::exactly ? opcode::opaque : static_cast<opcode>(i.op))];
      most = std::max(most, above);
      most_above_ = std::max(most_above_, ++above);
    }
  }

  void visit_waiting() {
    while (!waiting_.empty() && budget_ != 0) {
      auto const next = waiting_.back();
      waiting_.pop_back();
      if (matters(next)) visit(next);
    }
  }

  // By stages, before smaller rules take what is left.
  void add_near_misses() {
    near_misses_.find(
        stage_, selected_, [&](node_id n) { return fused(n); },
        [&](explanation const& why) {
          refusals_.add_near_miss({why.rule, why.node, why.node, image_.source->node_name(why.node), why.condition,
                                   to_text(why), false, false, why.other_reduction});
        });
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
  facts const& facts_;
  rewrite_options const& options_;
  rewrite_report& report_;
  machine machine_;
  basic_near_misses<Image> near_misses_;
  basic_application<Image> application_;
  basic_refusals<Image> refusals_;
  std::vector<bool> selected_, fused_;
  std::vector<std::uint8_t> begins_, begins_by_name_;  // by opcode, by code of a name
  std::vector<int> last_stage_, last_stage_by_name_;
  std::vector<node_id> waiting_, late_;
  struct climbing {
    node_id node;
    int operators, parts;  // passed on the way up
  };
  static constexpr int most_parts = opened_group::capacity;
  std::vector<climbing> climb_;
  std::vector<std::uint32_t> seen_;  // by node: in which round
  std::uint32_t round_ = 0;
  std::vector<int> above_;        // by opcode, see list_operators_above; -1 of what no rule has
  std::vector<int> most_before_;  // by instruction: operators on the way there; -1 where none leads
  int most_above_ = 0;
  bool late_rounds_ = false;
  std::vector<node_id> nodes_;  // of the first `listed_`, those that a stage left for later ones
  node_id listed_ = 0;
  int stage_ = 0;
  bool changed_ = false;  // since the machine last took in the whole image
  element_type computed_in_ = element_type::unknown, wider_ = element_type::unknown;
  node_id root_ = absent;
  std::vector<costly_match> costly_;
  std::size_t applied_ = 0;  // rewrites of all rules
  std::size_t budget_ = 0, exceeded_ = 0, bounded_ = 0;
  std::size_t half_budget_ = 0;
  std::vector<rule_report> half_way_;
};
using driver = basic_driver<graph_image>;

}  // namespace fuse::inline v0::detail
