/** The few declarations of Node that the tests need; its whole types would also apply to the board's code. */

declare module "node:test" {
  export function test(name: string, run: () => void): void;
}

declare module "node:assert/strict" {
  export function deepEqual(actual: unknown, expected: unknown): void;
  export function equal(actual: unknown, expected: unknown): void;
}
