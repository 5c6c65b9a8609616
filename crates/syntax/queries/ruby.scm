; Ruby. Names of classes, modules and methods are global once a file is loaded: its top-level definitions are its exports.

(comment) @doc

; Classes and modules. A comment before the first member is not part of the body's node, and must not end up in the signature.
(class name: [(constant) @name (scope_resolution name: (constant) @name)] . (superclass)? . (comment) @body) @def.class
(class name: [(constant) @name (scope_resolution name: (constant) @name)] body: (_)? @body) @def.class
(module name: [(constant) @name (scope_resolution name: (constant) @name)] . (comment) @body) @def.module
(module name: [(constant) @name (scope_resolution name: (constant) @name)] body: (_)? @body) @def.module
(assignment
  left: (constant) @name
  right: (call
    receiver: (constant) @_maker
    method: (identifier) @_make
    block: (_)? @body)
  (#any-of? @_maker "Class" "Data" "Struct")
  (#any-of? @_make "new" "define")) @def.class
(assignment left: (constant) @name) @def.constant
(assignment left: (scope_resolution name: (constant) @name)) @def.constant

; Methods. Only at the top level of a file they are functions. Again a comment may come before the body.
(program (method name: (_) @name parameters: (_)? . (comment) @body) @def.function)
(program (method name: (_) @name body: (_)? @body) @def.function)
(method name: (_) @name . (comment) @body) @def.method
(method name: (_) @name . (method_parameters) . (comment) @body) @def.method
(method name: (_) @name body: (_)? @body) @def.method
(singleton_method object: (constant) @owner name: (_) @name body: (_)? @body) @def.method
(singleton_method name: (_) @name body: (_)? @body) @def.method

; Bases: superclasses and mixins.
(superclass (constant) @ref.extends)
(superclass (scope_resolution scope: (_)? @qualifier name: (constant) @ref.extends))
(superclass (element_reference object: (constant) @ref.extends))
(superclass (element_reference object: (scope_resolution scope: (_)? @qualifier name: (constant) @ref.extends)))
(call
  !receiver
  method: (identifier) @_mix
  arguments: (argument_list (constant) @ref.extends)
  (#any-of? @_mix "include" "extend" "prepend"))
(call
  !receiver
  method: (identifier) @_mix
  arguments: (argument_list (scope_resolution scope: (_)? @qualifier name: (constant) @ref.extends))
  (#any-of? @_mix "include" "extend" "prepend"))

; Calls. `A.new` is a call of `A`. A function finds the calls that are only a word, because a variable looks the same.
(program) @import.walk
(call receiver: (constant) @ref.call method: (identifier) @_new (#eq? @_new "new"))
(call
  receiver: (scope_resolution scope: (_)? @qualifier name: (constant) @ref.call)
  method: (identifier) @_new
  (#eq? @_new "new"))
(call
  receiver: [(constant) (scope_resolution)] @qualifier
  method: [(identifier) (constant)] @ref.call
  (#not-eq? @ref.call "new"))
(call
  receiver: _ @qualifier
  method: [(identifier) (constant)] @ref.call
  (#not-match? @qualifier "^(::)?[A-Z][A-Za-z0-9_]*(::[A-Z][A-Za-z0-9_]*)*$"))
(call
  !receiver
  method: [(identifier) (constant)] @ref.call
  (#not-match? @ref.call "^(alias_method|attr_.*|autoload|extend|include|load|module_function|prepend|private.*|protected|public|require|require_relative)$"))

; Imports.
(call
  !receiver
  method: (identifier) @_require
  arguments: (argument_list . (string . (string_content) @import.path .) .)
  (#eq? @_require "require")) @import
(call
  !receiver
  method: (identifier) @_require
  arguments: (argument_list . (string . (string_content) @import.path .) .)
  (#any-of? @_require "require_relative" "load")) @import.relative
(call
  !receiver
  method: (identifier) @_require
  arguments: (argument_list . (simple_symbol) . (string . (string_content) @import.path .) .)
  (#eq? @_require "autoload")) @import
