'use strict';
import React, { useState, useEffect as effect } from 'react';
import * as tools from './tools.js';
import './side-effect.css';
import data from "./data.json" with { type: "json" };
export { one, two as deux } from './numbers';
export * from './everything';
export * as names from './names';

const fs = require('fs');
const { join, resolve: absolute } = require('path');
require('./register');

/** The largest size. */
export const MAX = 10, MIN = 1;
export let counter = 0;
export const { left, right: renamed, ...rest } = tools.sides();
var legacy = true;

/**
 * Adds two numbers.
 * @param {number} a
 */
export function add(a, b) {
  const local = 1;
  return plus(a, b, local);
}

// Counts up.
export const increase = async (by) => {
  const step = () => tools.step(by);
  counter += step();
  const lazy = await import('./lazy.js');
  return lazy.default(import(`./plain.js`), import(`./${by}.js`));
};

function* generate() {
  yield* other();
}

/* A base. */
class Base {}

export default class App extends React.Component {
  static defaultProps = {};
  #secret = 1;

  /** Handles a click. */
  handleClick = (event) => {
    this.setState({ clicked: event.target.matches('a') });
  };

  constructor(props) {
    super(props);
    this.#hidden();
  }

  #hidden() {}

  get size() {
    return new Map().size + new tools.Size(1);
  }

  async render() {
    return (
      <Layout title="x">
        <tools.Button onClick={this.handleClick} />
        <div>{renderItem(this.props)}</div>
      </Layout>
    );
  }
}

const handlers = {
  /** Opens it. */
  open(path) {
    return fs.openSync(join(path));
  },
};

const Mixed = class extends mix(Base) {};

Base.prototype.extra = function (x) {
  return helper(x);
};

exports.named = function named() {};
module.exports.other = 1;
module.exports = { add, renamed: increase };
