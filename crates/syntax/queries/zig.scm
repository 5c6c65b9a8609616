; Zig. Only what is `pub` can be used by other files.

((comment) @doc (#not-match? @doc "^//!"))

; Containers: a type is a constant whose value is a container.
(variable_declaration (identifier) @name (struct_declaration "{" @body)) @def.struct
(variable_declaration (identifier) @name (union_declaration "{" @body)) @def.struct
(variable_declaration (identifier) @name (opaque_declaration "{" @body)) @def.struct
(variable_declaration (identifier) @name (enum_declaration "{" @body)) @def.enum
(variable_declaration (identifier) @name (error_set_declaration "{" @body)) @def.enum

; Functions. Those of a container are methods, also where a function returns the container.
(struct_declaration (function_declaration name: (identifier) @name body: (_)? @body) @def.method)
(union_declaration (function_declaration name: (identifier) @name body: (_)? @body) @def.method)
(enum_declaration (function_declaration name: (identifier) @name body: (_)? @body) @def.method)
(opaque_declaration (function_declaration name: (identifier) @name body: (_)? @body) @def.method)
(function_declaration name: (identifier) @name body: (_)? @body) @def.function
(test_declaration (string (string_content) @name) (block) @body) @def.function
(test_declaration (identifier) @name (block) @body) @def.function

; Constants and variables of files and containers. An import and `@This()` are not definitions.
(source_file
  (variable_declaration "const" . (identifier) @name) @def.constant
  (#not-match? @def.constant "^[^\n]*= *@(import|cImport)\\("))
(source_file (variable_declaration "var" . (identifier) @name) @def.variable)
(struct_declaration
  (variable_declaration "const" . (identifier) @name) @def.constant
  (#not-match? @def.constant "^[^\n]*= *@(import|This)\\("))
(struct_declaration (variable_declaration "var" . (identifier) @name) @def.variable)
(union_declaration (variable_declaration "const" . (identifier) @name) @def.constant)
(enum_declaration (variable_declaration "const" . (identifier) @name) @def.constant)
(opaque_declaration (variable_declaration "const" . (identifier) @name) @def.constant)

; Calls.
(call_expression function: (identifier) @ref.call)
(call_expression function: (field_expression object: (_) @qualifier member: (identifier) @ref.call))
(call_expression function: (field_expression !object member: (identifier) @ref.call))

; Imports. The constant that holds the module is its name in this file.
(variable_declaration
  (identifier) @import.alias
  .
  (builtin_function (builtin_identifier) @_import (arguments . (string (string_content) @import.path))) @import
  (#eq? @_import "@import"))
(field_expression
  object: (builtin_function (builtin_identifier) @_import (arguments . (string (string_content) @import.path))) @import
  member: (identifier) @import.name
  (#eq? @_import "@import"))
((builtin_function (builtin_identifier) @_import (arguments . (string (string_content) @import.path))) @import.relative
  (#eq? @_import "@import")
  (#match? @import.path "\\.zig$"))
((builtin_function (builtin_identifier) @_import (arguments . (string (string_content) @import.path))) @import
  (#eq? @_import "@import"))
((builtin_function (builtin_identifier) @_import (arguments . (string (string_content) @import.path))) @import.system
  (#eq? @_import "@cInclude"))

; A public import is an export.
(source_file
  (variable_declaration "pub" (identifier) @export.name (builtin_function (builtin_identifier) @_import))
  (#eq? @_import "@import"))
