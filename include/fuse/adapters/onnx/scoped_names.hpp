// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <fuse/adapters/onnx/kept_texts.hpp>

namespace fuse::inline v0::adapters::detail {

/// Names of values and what each means in the scope at hand. Bodies see the names around them; leaving a body forgets
/// its own. One hash per question; names themselves belong to the caller and must stay where they are.
class scoped_names {
 public:
  /// `texts` keeps the names that are made here.
  explicit scoped_names(kept_texts& texts) : texts_(texts) {}

  void reserve(std::size_t names) {
    entries_.reserve(names);
    std::size_t slots = 64;
    while (slots < names * 2) slots *= 2;
    rehash(slots);
  }

  /// What `name` means here, 0 for nothing.
  [[nodiscard]] std::uint32_t find(std::string_view name) const {
    auto const at = slots_.empty() ? 0 : slots_[slot_of(name, hash(name))];
    return at == 0 ? 0 : entries_[at - 1].meaning;
  }

  /// Whether `name` means something in any scope, left or not.
  [[nodiscard]] bool known(std::string_view name) const {
    return !slots_.empty() && slots_[slot_of(name, hash(name))] != 0;
  }

  /// Makes `name` known, without a meaning; false where it was.
  bool add(std::string_view name) {
    auto const before = entries_.size();
    entry_of(name);
    return entries_.size() != before;
  }

  /// Gives `name` a meaning until the scope is left.
  void define(std::string_view name, std::uint32_t meaning) {
    auto const slot = entry_of(name);
    history_.push_back({slot - 1, entries_[slot - 1].meaning});
    entries_[slot - 1].meaning = meaning;
  }

  [[nodiscard]] std::size_t enter() const { return history_.size(); }
  void leave(std::size_t entered) {
    for (; history_.size() > entered; history_.pop_back())
      entries_[history_.back().entry].meaning = history_.back().meaning;
  }

  /// Appends a number to `name` where some scope knows it.
  void make_fresh(std::string& name) {
    if (!known(name)) return;
    auto const stem = name;
    for (auto& count = tried_[stem]; known(name);) name = stem + "_" + std::to_string(++count);
  }

  /// A name that no scope knows, `base` itself where it is free; it is known from now on.
  std::string_view fresh(std::string_view base) {
    std::string name(base.empty() ? "value" : base);
    make_fresh(name);
    auto const made = texts_.keep(name);
    define(made, 0);
    return made;
  }

 private:
  struct entry {
    std::string_view name;
    std::uint32_t hash, meaning;
  };
  struct change {
    std::uint32_t entry, meaning;
  };

  static std::uint32_t hash(std::string_view name) {
    return static_cast<std::uint32_t>(std::hash<std::string_view>{}(name));
  }

  // 1 + number of the entry, made where there is none.
  std::uint32_t entry_of(std::string_view name) {
    if ((entries_.size() + 1) * 2 > slots_.size()) rehash(slots_.empty() ? 64 : slots_.size() * 2);
    auto const key = hash(name);
    auto& slot = slots_[slot_of(name, key)];
    if (slot == 0) {
      entries_.push_back({name, key, 0});
      slot = static_cast<std::uint32_t>(entries_.size());
    }
    return slot;
  }

  [[nodiscard]] std::size_t slot_of(std::string_view name, std::uint32_t key) const {
    auto const mask = slots_.size() - 1;
    auto at = key & mask;
    while (slots_[at] != 0 && (entries_[slots_[at] - 1].hash != key || entries_[slots_[at] - 1].name != name))
      at = (at + 1) & mask;
    return at;
  }

  void rehash(std::size_t slots) {
    slots_.assign(slots, 0);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      auto at = entries_[i].hash & (slots - 1);
      while (slots_[at] != 0) at = (at + 1) & (slots - 1);
      slots_[at] = static_cast<std::uint32_t>(i + 1);
    }
  }

  kept_texts& texts_;
  std::vector<entry> entries_;
  std::vector<std::uint32_t> slots_;  // 1 + number of an entry
  std::vector<change> history_;
  std::unordered_map<std::string, std::size_t>
      tried_;  // the last number behind a name, so that many of one name stay cheap
};

}  // namespace fuse::inline v0::adapters::detail
