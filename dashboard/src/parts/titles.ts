// Names as titles.

const ID = /^[0-9a-z]{26}$/;

/** A process with what it is about; a key that is only the id of a call says nothing to people. */
export function titleOf(process: string, businessKey: string): string {
  return businessKey === "" || ID.test(businessKey) ? process : `${process} · ${businessKey}`;
}

/** "review the case" at the head of a page: "Review the case". */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
