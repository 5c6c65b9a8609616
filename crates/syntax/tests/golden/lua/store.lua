#!/usr/bin/env lua
-- Orders of a shop.
local json = require("json")
local base = require "shop.storage.base"
local audit = require('shop.audit').record
require [[shop.setup]]
local ok, optional = pcall(require, "shop.optional")
dofile("scripts/setup.lua")

local M = {}

--- The number of digits of a price.
M.DIGITS = 2
local LIMIT <const> = 100
counter = 0

--- Keeps orders in memory.
-- It is not safe for threads.
-- @class MemoryStore
local MemoryStore = {}
MemoryStore.__index = MemoryStore
setmetatable(MemoryStore, { __index = base })

--- Makes an empty store.
-- @param name the name of the store
function M.open(name)
  local self = setmetatable({}, MemoryStore)
  self.orders = {}
  self.name = string.format("%s", name)
  return self
end

-- Finds one order.
function MemoryStore:find(id)
  local found = self.orders[id]
  if found then
    return found
  end
  audit("missing " .. tostring(id))
  return self:load(id)
end

--[[
Loads an order.
]]
function MemoryStore:load(id)
  local file <close> = io.open(self.path)
  return json.decode(file:read("*a"))
end

function M.storage.cache.clear()
  M.storage.cache:reset {}
end

local function format(order)
  return ("%d"):format(order.id)
end

--- Prints a report.
function report(store)
  local function line(order)
    print(format(order))
  end
  for _, order in pairs(store.orders) do
    line(order)
  end
end

local compare = function(left, right)
  return left.total < right.total
end

M.sorted = function(store)
  table.sort(store.orders, compare)
  return store.orders
end

M.handlers = {
  add = function(order)
    M.open("main"):add(order)
  end,
  remove = M.remove,
}

return M
