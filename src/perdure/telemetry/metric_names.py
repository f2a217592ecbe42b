"""The names of all metrics, their labels and what they mean: the page of metrics is made from this table."""

from __future__ import annotations

from collections.abc import Mapping

SECONDS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0, 60.0, 300.0, 3600.0)
DAYS = (1.0, 10.0, 60.0, 600.0, 3600.0, 6 * 3600.0, 86_400.0, 2 * 86_400.0, 7 * 86_400.0, 30 * 86_400.0, 90 * 86_400.0)
QUICK = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
UNITS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0)

ABOUT: Mapping[str, str] = {
    "runbook_steps_total": "Steps that ended, by execution kind (sync, durable, choice) and state.",
    "runbook_step_duration_seconds": "From a step's beginning to its end, waits included.",
    "durable_invocation_wait_seconds": "From parking to the completion or the timeout that ended the wait.",
    "durable_timeout_total": "Waits that ended by their timeout.",
    "runbook_completion_seconds": "From the start of a runbook or call to its completion.",
    "notification_delivery_lag_seconds": "From the end of a process to the end of the wait of the step it carried.",
    "perdure_jobs_waiting": "Jobs that no live worker holds, in the whole store; counted up to 10,000.",
    "perdure_incidents_open": "Open incidents in the whole store; counted up to 10,000.",
    "perdure_incidents_raised_total": "Incidents raised in commits of this process.",
    "perdure_human_tasks_ended_total": "Human tasks that ended: in_time, late, or undated where nothing was due.",
    "perdure_instances_ended_total": "Instances that ended, by process and state: how reliable a workflow is.",
    "perdure_compensations_total": "Compensations of instances and runbooks that ended, by outcome: whole or failed.",
    "perdure_agent_cost_total": "What agents cost, by process and its version (or verb), as far as it is known.",
    "perdure_agent_tokens_total": "Tokens that agents used, by process and its version (or verb).",
    "perdure_quarantined": "Calls, runbooks, instances and records whose stored bytes failed a check, up to 10,000.",
    "perdure_dead_letters": "Dead letters in the whole store; counted up to 10,000.",
    "perdure_parked_tokens": "Waits in the whole store, by kind (call, message, signal, task, ...); each up to 10,000.",
    "perdure_tasks_open": "Open human tasks in the whole store; counted up to 10,000.",
    "perdure_tasks_overdue": "Of the 100 oldest open human tasks, those past their due time.",
    "perdure_task_oldest_seconds": "The age of the oldest open human task.",
    "perdure_leases_live": "Processes that hold a lease on the store.",
    "perdure_leases_lost_total": "Leases that were taken away from this process.",
    "perdure_clock_difference_seconds": "How far this machine's clock was ahead of the store's when last read.",
    "perdure_commits_total": "Transactions of this process that wrote units.",
    "perdure_commit_batch_units": "Units that became durable in one transaction.",
    "perdure_commit_seconds": "From handing a unit to the store to its being durable.",
    "perdure_commands_rejected_total": "Commands that were refused, by code.",
    "perdure_http_requests_total": "Requests answered, by method, route and status.",
    "perdure_http_request_seconds": "Time to answer a request.",
    "perdure_sse_streams": "Event streams that are open on this process.",
    "perdure_webhook_deliveries_total": "Webhooks, in and out, by outcome (delivered, retried, failed, refused).",
    "perdure_task_results_total": "Task results that came, by door and outcome (counted, known, over, parked, ...).",
    "perdure_task_results_waiting": "Rows of task_result_queue that wait; counted up to 10,000.",
    "perdure_engine_reachable": "1 while an engine answers, 0 while it does not, by its name.",
    "perdure_engine_steps_waiting": "Steps that cannot begin because their engine was not reached, by engine.",
    "perdure_engine_dispatches_open": "Commands to an engine outside, and records of it, not in our journal yet.",
    "perdure_engine_lag_seconds": "The age of the oldest of them.",
    "perdure_bus_lag": "Messages of a source that the group of consumers has not acknowledged.",
    "perdure_bus_paused": "1 while a source stands still: its broker or the store is away.",
    "perdure_telemetry_dropped_total": "Commits that were not measured or traced because too many were waiting for it.",
}

LABELS: Mapping[str, tuple[str, ...]] = {
    "runbook_steps_total": ("kind", "status"),
    "runbook_step_duration_seconds": ("kind", "verb"),
    "durable_invocation_wait_seconds": ("verb",),
    "durable_timeout_total": ("verb",),
    "perdure_human_tasks_ended_total": ("outcome",),
    "perdure_instances_ended_total": ("process", "status"),
    "perdure_compensations_total": ("outcome",),
    "perdure_agent_cost_total": ("work", "version"),
    "perdure_agent_tokens_total": ("work", "version"),
    "perdure_parked_tokens": ("kind",),
    "perdure_commands_rejected_total": ("code",),
    "perdure_http_requests_total": ("method", "route", "status"),
    "perdure_http_request_seconds": ("method", "route"),
    "perdure_webhook_deliveries_total": ("direction", "outcome"),
    "perdure_task_results_total": ("door", "outcome"),
    "perdure_engine_reachable": ("engine",),
    "perdure_engine_steps_waiting": ("engine",),
    "perdure_engine_dispatches_open": ("engine",),
    "perdure_engine_lag_seconds": ("engine",),
    "perdure_bus_lag": ("source",),
    "perdure_bus_paused": ("source",),
}

BUCKETS: Mapping[str, tuple[float, ...]] = {
    "runbook_step_duration_seconds": SECONDS,
    "durable_invocation_wait_seconds": DAYS,
    "runbook_completion_seconds": (0.01, 0.1, *DAYS),
    "notification_delivery_lag_seconds": (*QUICK, 60.0, 300.0),
    "perdure_commit_batch_units": UNITS,
    "perdure_commit_seconds": QUICK,
    "perdure_http_request_seconds": QUICK,
}


def kind_of(name: str) -> str:
    """Whether a metric is a counter, a histogram or a gauge."""
    if name.endswith("_total"):
        return "counter"
    return "histogram" if name in BUCKETS else "gauge"
