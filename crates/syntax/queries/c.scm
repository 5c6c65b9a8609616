(comment) @doc

; Functions and their prototypes
(function_definition declarator: (function_declarator declarator: (identifier) @name) body: (_) @body) @def.function
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)) body: (_) @body) @def.function
(function_definition
  declarator: (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))
  body: (_) @body) @def.function
(declaration declarator: (function_declarator declarator: (identifier) @name)) @def.function
(declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))) @def.function

; Types
(type_definition type: (struct_specifier !name body: (_) @body) declarator: (type_identifier) @name) @def.struct
(type_definition type: (union_specifier !name body: (_) @body) declarator: (type_identifier) @name) @def.struct
(type_definition type: (enum_specifier !name body: (_) @body) declarator: (type_identifier) @name) @def.enum
(type_definition declarator: (type_identifier) @name) @def.type
(type_definition declarator: (pointer_declarator declarator: (type_identifier) @name)) @def.type
(type_definition declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))) @def.type
(struct_specifier name: (type_identifier) @name body: (_) @body) @def.struct
(union_specifier name: (type_identifier) @name body: (_) @body) @def.struct
(enum_specifier name: (type_identifier) @name body: (_) @body) @def.enum

; Macros. A macro without a value only guards a header.
(preproc_def name: (identifier) @name value: (_)) @def.constant
(preproc_function_def name: (identifier) @name) @def.macro

; Variables. Those inside functions are left out later.
(declaration declarator: (init_declarator declarator: (identifier) @name)) @def.variable
(declaration declarator: (init_declarator declarator: (pointer_declarator declarator: (identifier) @name))) @def.variable
(declaration declarator: (init_declarator declarator: (array_declarator declarator: (identifier) @name))) @def.variable
(declaration declarator: (identifier) @name) @def.variable
(declaration declarator: (pointer_declarator declarator: (identifier) @name)) @def.variable
(declaration declarator: (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))) @def.variable
(declaration declarator: (array_declarator declarator: (identifier) @name)) @def.variable

; Calls
(call_expression function: (identifier) @ref.call)
(call_expression function: (field_expression argument: (_) @qualifier field: (field_identifier) @ref.call))

; Imports
(preproc_include path: (string_literal) @import.path) @import.relative
(preproc_include path: (system_lib_string) @import.path) @import.system
