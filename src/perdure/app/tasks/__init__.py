"""Human tasks and the views that surfaces show of them."""
