"""What tests of durable verbs need: virtual time, conformance suites and real services."""
