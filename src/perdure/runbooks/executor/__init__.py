"""The executor: calls, plans and steps driven by the kernel, recovered after a crash."""
