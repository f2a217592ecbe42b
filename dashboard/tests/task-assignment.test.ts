import { expect, test } from "vitest";
import { forWhom, isOfStep, standingOf } from "../src/pages/inbox/task-assignment";

test.each([
  [{ assignee: "rita", groups: "compliance" }, "for rita (compliance)"],
  [{ groups: "compliance, seniors" }, "for compliance, seniors"],
  [{ users: "ana, bo" }, "for ana, bo"],
  [{}, "for anybody"],
])("%j is %s", (task, said) => {
  expect(forWhom(task)).toBe(said);
});

test("who asked may not answer where four eyes are needed", () => {
  expect(standingOf({ four_eyes: true, requester: "ana" }, "ana").isRequester).toBe(true);
  expect(standingOf({ four_eyes: true, requester: "ana" }, "bo").isRequester).toBe(false);
  expect(standingOf({ four_eyes: false, requester: "" }, "").isRequester).toBe(false);
});

test("a task somebody else has claimed names them, one's own does not", () => {
  expect(standingOf({ claimed_by: "rita" }, "ana")).toMatchObject({ isMine: false, holder: "rita" });
  expect(standingOf({ claimed_by: "ana" }, "ana")).toMatchObject({ isMine: true, holder: "" });
});

test("a task of a step belongs to a runbook, one of a token to an instance", () => {
  expect(isOfStep({ process: "loan.approve", verb: "loan.approve", element: "" })).toBe(true);
  expect(isOfStep({ process: "approve-claim", verb: "claim.file", element: "approve" })).toBe(false);
});
