// What Java calls: inline functions over addresses, one header per area. JavaCPP's glue includes
// this file; nothing else in native/ knows Java.
#pragma once

#include "hash_bridge.hpp"
#include "pool_bridge.hpp"
