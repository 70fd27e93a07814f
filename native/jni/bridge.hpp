#pragma once
#include <cstdint>
inline int64_t ping(const int64_t* p, int x) { return (p ? *p : 7) + x; }
