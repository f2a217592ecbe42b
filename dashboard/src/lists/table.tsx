// A table with named columns; on a phone each row folds into a small card.
import type { ComponentChildren } from "preact";

export interface Column<T> { label: string; cell: (row: T) => ComponentChildren; isNumber?: boolean }
interface TableProps<T> { caption: string; columns: Column<T>[]; rows: T[]; keyOf: (row: T) => string }

export function Table<T>({ caption, columns, rows, keyOf }: TableProps<T>) {
  return (
    <div class="scroll">
      <table class="table folds">
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>{columns.map((column) => <th key={column.label} scope="col">{column.label}</th>)}</tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => <td key={column.label} data-label={column.label} class={column.isNumber ? "number" : ""}>{column.cell(row)}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
