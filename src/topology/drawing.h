#pragma once

#include <string>

#include "topology/topology.h"

// Queues and where their failures go, drawn. Names and ARNs come from a server: they are written so
// that they cannot leave their place in the drawing.

namespace redrive::topology {

// For a terminal: each dead-letter queue with its sources below it, then queues on their own.
//
//   orders-dlq  12 messages
//   ├─ orders  3 visible, 1 in flight; after 5 receives; feeds charge
//   └─ returns  empty; after 3 receives
std::string draw_tree(const Topology& topology);
// For Graphviz, and for Mermaid as in Markdown on many sites.
std::string draw_dot(const Topology& topology);
std::string draw_mermaid(const Topology& topology);

}  // namespace redrive::topology
