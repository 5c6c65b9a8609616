; Elixir. Definitions are calls of macros, so the word that is called tells what a call defines.

(comment) @doc

; Attributes between a doc and a function belong to the function.
(unary_operator
  "@"
  operand: (call target: (identifier) @_attribute)
  (#any-of? @_attribute "doc" "typedoc" "spec" "impl" "deprecated" "since")) @attribute

; Modules, with and without `@moduledoc`.
(call
  target: (identifier) @_define
  (arguments . (alias) @name)
  (do_block
    (unary_operator "@" operand: (call target: (identifier) @_doc (arguments . (string) @doc.inside)))) @body
  (#eq? @_define "defmodule")
  (#eq? @_doc "moduledoc")) @def.module
(call target: (identifier) @_define (arguments . (alias) @name) (do_block) @body (#eq? @_define "defmodule")) @def.module
(call target: (identifier) @_define (arguments . (alias) @name) (do_block) @body (#eq? @_define "defprotocol") (#set! exported)) @def.interface
(call target: (identifier) @_define (arguments . (alias) @name) (do_block) @body (#eq? @_define "defimpl")) @def.module

; Functions and macros with `@doc`: it may stand above other attributes.
(
  (unary_operator
    "@"
    operand: (call target: (identifier) @_doc (arguments . (string) @doc.inside)))
  .
  (unary_operator)*
  .
  (call
    target: (identifier) @_define
    (arguments
      .
      [
        (identifier) @name
        (call target: (identifier) @name)
        (binary_operator left: (identifier) @name operator: "when")
        (binary_operator left: (call target: (identifier) @name) operator: "when")
      ]
      (keywords)? @body)
    (do_block)? @body) @def.function
  (#eq? @_doc "doc")
  (#match? @_define "^(def|defp|defdelegate|defguard|defguardp)$")
)
(
  (unary_operator
    "@"
    operand: (call target: (identifier) @_doc (arguments . (string) @doc.inside)))
  .
  (unary_operator)*
  .
  (call
    target: (identifier) @_define
    (arguments
      .
      [
        (identifier) @name
        (call target: (identifier) @name)
        (binary_operator left: (call target: (identifier) @name) operator: "when")
      ]
      (keywords)? @body)
    (do_block)? @body) @def.macro
  (#eq? @_doc "doc")
  (#match? @_define "^(defmacro|defmacrop)$")
)

; Functions and macros.
(call
  target: (identifier) @_define
  (arguments
    .
    [
      (identifier) @name
      (call target: (identifier) @name)
      (binary_operator left: (identifier) @name operator: "when")
      (binary_operator left: (call target: (identifier) @name) operator: "when")
    ]
    (keywords)? @body)
  (do_block)? @body
  (#match? @_define "^(def|defp|defdelegate|defguard|defguardp)$")) @def.function
(call
  target: (identifier) @_define
  (arguments
    .
    [
      (identifier) @name
      (call target: (identifier) @name)
      (binary_operator left: (call target: (identifier) @name) operator: "when")
    ]
    (keywords)? @body)
  (do_block)? @body
  (#match? @_define "^(defmacro|defmacrop)$")) @def.macro
(call
  target: (identifier) @_define
  (arguments . (binary_operator left: (_) operator: _ @name right: (_)) (keywords)? @body)
  (do_block)? @body
  (#match? @_define "^(def|defp)$")
  (#not-match? @name "^(when|::|\\|)$")) @def.function

; Types with `@typedoc`.
(
  (unary_operator
    "@"
    operand: (call target: (identifier) @_doc (arguments . (string) @doc.inside)))
  .
  (unary_operator
    "@"
    operand: (call
      target: (identifier) @_attribute
      (arguments
        .
        (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "::")))) @def.type
  (#eq? @_doc "typedoc")
  (#any-of? @_attribute "type" "opaque")
)

; Types, callbacks and attributes with a value.
(unary_operator
  "@"
  operand: (call
    target: (identifier) @_attribute
    (arguments
      .
      (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "::")))
  (#any-of? @_attribute "type" "typep" "opaque")) @def.type
(unary_operator
  "@"
  operand: (call
    target: (identifier) @_attribute
    (arguments . (binary_operator left: (call target: (identifier) @name) operator: "::")))
  (#any-of? @_attribute "callback" "macrocallback")) @def.function
(do_block
  (unary_operator "@" operand: (call target: (identifier) @name (arguments))) @def.constant
  (#not-match? @name "^(after_compile|before_compile|behaviour|callback|compile|deprecated|derive|describetag|dialyzer|doc|enforce_keys|external_resource|impl|macrocallback|moduledoc|moduletag|on_definition|on_load|opaque|optional_callbacks|shortdoc|since|spec|tag|type|typedoc|typep|vsn)$"))

; Behaviours and protocols.
(unary_operator
  "@"
  operand: (call target: (identifier) @_attribute (arguments . (alias) @ref.implements))
  (#eq? @_attribute "behaviour"))
(call target: (identifier) @_define (arguments . (alias) @ref.implements) (#eq? @_define "defimpl"))

; A function reads imports and calls: only what is around a call tells it from the head of a definition or a type.
(source) @import.walk
(call
  target: (identifier) @_import
  (arguments)
  (#match? @_import "^(alias|import|require|use)$")) @import.walk
