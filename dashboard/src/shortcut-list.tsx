// The list of keys.
import { mayDo } from "./api/client";
import { Dialog } from "./parts/dialog";
import { places } from "./routes";
import { isHelpOpen, pageShortcuts } from "./shortcuts";

export function Help() {
  if (!isHelpOpen.value) return null;
  const close = () => (isHelpOpen.value = false);
  const everywhere = [
    { keys: "/", label: "Search" }, { keys: "?", label: "This list" }, { keys: "Esc", label: "Leave a field or a dialog" },
    ...places.filter((each) => !each.operation || mayDo(each.operation)).map((each) => ({ keys: `g ${each.keys}`, label: `Go to ${each.label}` })),
  ];
  return (
    <Dialog title="Keyboard shortcuts" onClose={close}>
      <dl class="facts">
        {[...everywhere, ...pageShortcuts.value].map((each) => (
          <><dt>{each.keys.split(" ").map((key, index) => <>{index > 0 && " "}<kbd>{key}</kbd></>)}</dt><dd>{each.label}</dd></>
        ))}
      </dl>
      <footer><button type="button" class="button" onClick={close}>Close</button></footer>
    </Dialog>
  );
}
