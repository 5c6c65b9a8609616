/// <reference path="./globals.d.ts" />
/// <reference types="node" />
import type { Request, Response as Reply } from './http';
import { type Inline, value } from "../shared/value.js";
import express = require('express');
import Default, * as everything from '@scope/package';
export type { Shape } from './shape';
export { value as default };
export * from './all';

/** How many. */
export const LIMIT: number = 5;
declare const VERSION: string;

export type Handler<T> = (request: Request) => Promise<T>;

export interface Repository<T> extends Base<T>, store.Readable {
  /** Finds one. */
  find(id: string): Promise<T | undefined>;
  size: number;
}

export const enum Color {
  Red = 'red',
  Green = 'green',
}

export namespace Deep.Inner {
  export function nested(): void {}
  const hidden = 1;
}

declare module 'untyped' {
  export function anything(x: unknown): void;
}

/**
 * A model.
 */
@Entity({ name: 'model' })
export abstract class Model<T extends object> extends Core.Base<T> implements Repository<T>, Closable, ns.Other {
  private readonly cache = new Map<string, T>();
  static count = 0;

  constructor(private readonly store: Store) {
    super();
  }

  @Input()
  title?: string;

  /** Finds one. */
  @Cached(60)
  async find(id: string): Promise<T | undefined> {
    const known = this.cache.get(id);
    return known ?? (await this.store.load<T>(id));
  }

  abstract close(): void;

  private handle = (event: Event): void => {
    dispatch<Event>(event);
  };
}

export default function create(): Model<object>;
export default function create(name?: string) {
  return build(name as string)!;
}

export declare function ambient(a: number): string;

function overloaded(a: string): void;
function overloaded(a: unknown): void {
  let lazy = import('./lazy');
  type Local = import('./types').Thing;
}

export = overloaded;
