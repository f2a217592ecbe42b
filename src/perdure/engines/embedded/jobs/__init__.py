"""Jobs of the embedded engine: leases, bindings, arguments and attempts."""
