"""Every key a pack file may hold, per place, with what it means; the reference page is made of this."""

from __future__ import annotations

from types import MappingProxyType

PACK = MappingProxyType(
    {
        "id": "The pack's id: lower case words joined by hyphens.",
        "name": "What people call it.",
        "version": "A version, in quotes.",
        "description": "What the journey is for.",
        "invocation_phrases": "What someone might say to begin it; `{entity}` takes what they say there.",
        "required_context": "Names that must be known before it begins.",
        "optional_context": "Names it uses when they are known.",
        "workspaces": "Labels that group packs; kept and shown.",
        "allowed_verbs": "Verbs its steps may call, `*` for any letters; nothing listed allows all.",
        "forbidden_verbs": "Verbs its steps may never call; beats `allowed_verbs`.",
        "risk_policy": "When it asks before running, and what raises the consequence tier.",
        "required_questions": "Answers without which there is no plan.",
        "optional_questions": "Answers it can do without.",
        "stop_rules": "When it stops asking: `all_required_answered` (the default) or `all_answered`.",
        "templates": "The plans it makes of the answers.",
        "pack_summary_template": "The whole plan in one sentence.",
        "section_layout": "The chapters of the playback, in order.",
        "definition_of_done": "Conditions that must all hold when the journey is over.",
        "progress_signals": "Milestones and when they are reached.",
        "handoff_target": "The pack that takes over afterwards.",
    }
)
RISK_POLICY = MappingProxyType(
    {
        "require_confirm_before_execute": "Whether each step must be confirmed before `run`; true by default.",
        "max_steps_without_confirm": "A plan of more steps requires confirmation; 10 by default.",
        "escalations": "Rules that raise the tier of a call.",
    }
)
ESCALATION = MappingProxyType(
    {
        "name": "What the rule is called.",
        "verbs": "The verbs it looks at, `*` for any letters; all by default.",
        "when": "A condition over `args.…` of the call.",
        "tier": "The tier the call then has, if that is higher than its own.",
        "reason": "Why, for whoever confirms.",
    }
)
QUESTION = MappingProxyType(
    {
        "field": "The answer's name, used as `answers.field`.",
        "prompt": "The question.",
        "answer_kind": "`string`, `boolean`, `list`, `entity_ref` or `enum`; `string` by default.",
        "options_source": "`verb.argument` whose enum gives the options, or a list of them.",
        "entity": "The declared entity that an `entity_ref` is looked up in.",
        "default": "The answer when none is given.",
        "ask_when": "A condition; the question counts only when it holds.",
    }
)
TEMPLATE = MappingProxyType(
    {
        "template_id": "The template's id.",
        "when_to_use": "What it is for, in words.",
        "when": "A condition; the first template whose condition holds is taken, else the first without one.",
        "ordered": "Whether each step comes after the one before; false by default.",
        "steps": "The calls.",
    }
)
STEP = MappingProxyType(
    {
        "verb": "The verb called.",
        "args": "Its arguments: values, or texts with placeholders.",
        "as": "The step's name, for `{steps.name.…}` and `after`.",
        "repeat_for": "`answers.x` or `context.x`: once per item of that list, as `{item}`.",
        "when": "A condition; the step is left out when it does not hold.",
        "execution_mode": "`sync`, `durable` or `human_gate`; what the verb says by default.",
        "after": "Names of steps it comes after.",
        "gate": "The group of which someone must agree before it runs.",
        "on_failure": "`fail`, `stop`, `continue`, `ask` or `decide`; `fail` by default.",
        "reevaluate": "`always`: this decision is asked again whenever a wait of the runbook has ended.",
    }
)
SECTION = MappingProxyType({"title": "The chapter's title.", "verbs": "The verbs in it, `*` for any letters."})
SIGNAL = MappingProxyType({"label": "The milestone.", "condition": "When it is reached."})

PLACES = MappingProxyType(
    {
        "pack": PACK,
        "risk_policy": RISK_POLICY,
        "escalation": ESCALATION,
        "question": QUESTION,
        "template": TEMPLATE,
        "step": STEP,
        "section": SECTION,
        "signal": SIGNAL,
    }
)
