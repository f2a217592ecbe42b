// What a field holds, in a few words.
import type { Shape } from "../../forms/schema-shape";

export function kindText(shape: Shape): string {
  switch (shape.kind) {
    case "text":
      return shape.format || "text";
    case "number":
      return shape.isInteger ? "whole number" : "number";
    case "yes-no":
      return "yes or no";
    case "choice":
      return `one of ${shape.options.map((each) => each.label).join(", ")}`;
    case "many":
      return `any of ${shape.options.map((each) => each.label).join(", ")}`;
    case "fixed":
      return JSON.stringify(shape.value);
    case "group":
      return "a group of fields";
    case "list":
      return `a list: ${kindText(shape.item)}`;
    case "variants":
      return shape.variants.map((each) => each.label).join(" or ");
    case "raw":
      return "any JSON";
  }
}
