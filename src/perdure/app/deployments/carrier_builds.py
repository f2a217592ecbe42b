"""Carrier builds: what becomes of instances whose workflows an older build of our workers hosts.

| the build of the instances | their histories replay with this code | verdict |
|---|---|---|
| this one, or any | yes | `goes_on` |
| this one, or any | no | `stays_pinned`: workers of this build must not take them |
| another | yes | `migrates`: this build may take them over, else workers of theirs have to stay |
| another | no | `stays_pinned`: only workers of their own build carry them on |
"""

from __future__ import annotations

from perdure.app.deployments.views import CarrierImpact, Impact
from perdure.engine import HostBuild


def carrier_impact(found: HostBuild) -> CarrierImpact:
    verdict, reason = _judged(found)
    if not found.is_working:
        whose = f"build {found.build}" if found.build else "any build"
        reason = (
            f"{reason}; no worker of {whose} asks for work now" if reason else f"no worker of {whose} asks for work now"
        )
    return CarrierImpact(
        engine=found.engine, build=found.build, current=found.current, instances=found.count,
        examples=list(found.instances), replayed=found.replayed, verdict=verdict, reason=reason,
    )  # fmt: skip


def _judged(found: HostBuild) -> tuple[Impact, str]:
    is_own = found.build in ("", found.current)
    if found.failure:
        keep = (
            "keep workers of the release before until they have ended" if is_own else f"keep workers of {found.build}"
        )
        return "stays_pinned", f"a recorded history does not replay with this build ({found.failure}): {keep}"
    if is_own:
        return "goes_on", ""
    return "migrates", (
        f"workers of {found.build} carry them on; this build replays their histories and may take one over: "
        "temporal workflow update-options --workflow-id perdure-ID --versioning-override-behavior pinned "
        f"--versioning-override-deployment-name {found.deployment} --versioning-override-build-id {found.current}"
    )
