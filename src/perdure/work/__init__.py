"""Work: leases, handlers, timers; what runs verbs and nothing else does."""
