; Lua. A module is the table that its file returns. What is not local can be used by other files.

(comment) @doc

; Tables that serve as classes: by convention, their names start with an upper case letter.
(chunk
  (variable_declaration
    (assignment_statement
      (variable_list . name: (identifier) @name)
      (expression_list . value: (table_constructor) @body))) @def.class
  (#match? @name "^[A-Z][A-Za-z0-9_]*[a-z]"))
(chunk
  (assignment_statement
    (variable_list . name: (identifier) @name)
    (expression_list . value: (table_constructor) @body)) @def.class
  (#match? @name "^[A-Z][A-Za-z0-9_]*[a-z]"))

; Functions. The body starts with what follows the parameters: a comment there is not part of the body's node.
(function_declaration
  name: (method_index_expression table: (identifier) @owner method: (identifier) @name)
  parameters: (parameters)
  .
  (_)? @body) @def.method
(function_declaration
  name: (method_index_expression method: (identifier) @name)
  parameters: (parameters)
  .
  (_)? @body) @def.method
(function_declaration
  name: (dot_index_expression table: (identifier) @owner field: (identifier) @name)
  parameters: (parameters)
  .
  (_)? @body
  (#match? @owner "^[A-Z][A-Za-z0-9_]*[a-z]")) @def.method
(function_declaration
  name: (dot_index_expression field: (identifier) @name)
  parameters: (parameters)
  .
  (_)? @body) @def.function
(function_declaration name: (identifier) @name parameters: (parameters) . (_)? @body) @def.function
(variable_declaration
  (assignment_statement
    (variable_list . name: (identifier) @name .)
    (expression_list . value: (function_definition parameters: (parameters) . (_)? @body) .))) @def.function
(assignment_statement
  (variable_list . name: (identifier) @name .)
  (expression_list . value: (function_definition parameters: (parameters) . (_)? @body) .)) @def.function
(assignment_statement
  (variable_list . name: (dot_index_expression field: (identifier) @name) .)
  (expression_list . value: (function_definition parameters: (parameters) . (_)? @body) .)) @def.function
(field name: (identifier) @name value: (function_definition parameters: (parameters) . (_)? @body)) @def.function

; Variables of the file. An import is not a definition.
(chunk
  (variable_declaration
    (assignment_statement
      (variable_list name: (identifier) @name attribute: (attribute (identifier) @_attribute)))) @def.constant
  (#eq? @_attribute "const"))
(chunk
  (variable_declaration (assignment_statement (variable_list name: (identifier) @name))) @def.constant
  (#match? @name "^[A-Z][A-Z0-9_]+$"))
(chunk
  (variable_declaration (assignment_statement (variable_list name: (identifier) @name))) @def.variable
  (#not-match? @def.variable "^[^\n]*= *(pcall *\\( *)?require\\b"))
(chunk
  (assignment_statement (variable_list name: (dot_index_expression field: (identifier) @name))) @def.constant
  (#match? @name "^[A-Z][A-Z0-9_]+$"))
(chunk
  (assignment_statement (variable_list name: (dot_index_expression field: (identifier) @name))) @def.variable
  (#not-match? @name "^__"))
(chunk (assignment_statement (variable_list name: (identifier) @name)) @def.variable)

; Bases: `setmetatable(A, { __index = B })`.
(function_call
  name: (identifier) @_set
  arguments: (arguments
    (table_constructor (field name: (identifier) @_index value: (identifier) @ref.extends)))
  (#eq? @_set "setmetatable")
  (#eq? @_index "__index"))

; Calls.
(function_call name: (identifier) @ref.call (#not-match? @ref.call "^(require|dofile|loadfile)$"))
(function_call name: (dot_index_expression table: (_) @qualifier field: (identifier) @ref.call))
(function_call name: (method_index_expression table: (_) @qualifier method: (identifier) @ref.call))

; Imports. The variable that holds the module is its name in this file.
(assignment_statement
  (variable_list . name: (identifier) @import.alias .)
  (expression_list
    .
    value: (function_call
      name: (identifier) @_require
      arguments: (arguments . (string content: (string_content) @import.path) .)) @import)
  (#eq? @_require "require"))
(dot_index_expression
  table: (function_call
    name: (identifier) @_require
    arguments: (arguments . (string content: (string_content) @import.path) .)) @import
  field: (identifier) @import.name
  (#eq? @_require "require"))
((function_call
  name: (identifier) @_require
  arguments: (arguments . (string content: (string_content) @import.path) .)) @import
  (#eq? @_require "require"))
((function_call
  name: (identifier) @_call
  arguments: (arguments . (identifier) @_require . (string content: (string_content) @import.path))) @import
  (#eq? @_call "pcall")
  (#eq? @_require "require"))
((function_call
  name: (identifier) @_load
  arguments: (arguments . (string content: (string_content) @import.path) .)) @import.relative
  (#match? @_load "^(dofile|loadfile)$"))
