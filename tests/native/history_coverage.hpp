// What random histories have covered.
#pragma once

#include <cstdint>
#include <cstdio>

namespace kvasir {

// Coverage of a suite of histories; a case that never occurs is not tested.
struct Seen {
  uint64_t refused, matched, evicted, collisions, shared, cleared, lost_events, watched;

  void add(const Seen& other) {
    refused += other.refused;
    matched += other.matched;
    evicted += other.evicted;
    collisions += other.collisions;
    shared += other.shared;
    cleared += other.cleared;
    lost_events += other.lost_events;
    watched += other.watched;
  }

  void print() const {
    std::printf(
        "refused %llu, matched %llu, evicted %llu, collisions %llu, shared %llu, cleared %llu, "
        "lost events %llu, probed beside mutations %llu\n",
        number(refused), number(matched), number(evicted), number(collisions), number(shared),
        number(cleared), number(lost_events), number(watched));
  }

 private:
  static unsigned long long number(uint64_t value) { return value; }
};

}  // namespace kvasir
