"""What the conformance and crash tests share: a server process, three clients, one clock."""
