#pragma once

#include <string>

#include "observe/topology/topology.h"

// Drawings of queues and their dead-letter queues. Names and ARNs come from a server and are
// escaped.

namespace redrive::topology {

// For a terminal: each dead-letter queue with its sources below it, then the other queues.
//
//   orders-dlq  12 messages
//   ├─ orders  3 visible, 1 in flight; after 5 receives; feeds charge
//   └─ returns  empty; after 3 receives
std::string draw_tree(const Topology& topology);
// For Graphviz, and for Mermaid in Markdown.
std::string draw_dot(const Topology& topology);
std::string draw_mermaid(const Topology& topology);

}  // namespace redrive::topology
