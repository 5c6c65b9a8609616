# frozen_string_literal: true

require "json"
require 'active_support/all'
require_relative "storage/base"
require_relative '../lib/audit'
load "tasks/setup.rb"
autoload :Report, "shop/report"

# Everything that sells.
module Shop
  # The number of digits of a price.
  DIGITS = 2
  Point = Struct.new(:x, :y) do
    def length
      Math.sqrt(x * x + y * y)
    end
  end

  # Records who changed what.
  module Auditable
    def audit(message)
      logger.info(message)
    end
  end

  class Error < StandardError; end

  # Keeps orders in memory.
  #
  # It is not safe for threads.
  class MemoryStore < Storage::Base
    include Auditable
    include Enumerable, Comparable
    extend Shop::Counting
    prepend Tracing

    attr_reader :orders

    LIMIT = 100

    @@count = 0

    # Makes an empty store.
    def initialize(name)
      super(name)
      @orders = {}
    end

    # Finds one order.
    def find(id)
      return orders.fetch(id) if orders.key?(id)

      audit "missing #{format_id(id)}"
      load_from(self.class.default_path)
    end

    def self.open(path)
      new(File.basename(path)).tap do |store|
        store.restore!(path)
      end
    end

    class << self
      def count
        @@count
      end
    end

    def ==(other)
      other.is_a?(MemoryStore)
    end

    def name=(value)
      @name = value
    end

    def each(&block) = orders.each_value(&block)

    alias_method :lookup, :find
    alias size count

    private

    def format_id(id)
      Shop::Format.id(id)
    end
  end

  class Storage::Cache < ::Hash
  end
end

# Prints a report.
def report(store)
  puts store&.find(1)
  Shop::MemoryStore.new("main")
  yield store if block_given?
end

def Shop.version
  "1.0"
end

report Shop::MemoryStore.open("orders.json") do |store|
  store.audit("opened")
end
