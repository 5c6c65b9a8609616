; Kotlin. What is at the top level and not private can be used by other files.

[(line_comment) (block_comment)] @doc

(package_header (qualified_identifier) @package)

; Types.
(class_declaration "interface" name: (identifier) @name (class_body)? @body) @def.interface
(class_declaration
  (modifiers (class_modifier) @_modifier)
  name: (identifier) @name
  [(enum_class_body) (class_body)]? @body
  (#eq? @_modifier "enum")) @def.enum
(class_declaration name: (identifier) @name (class_body)? @body) @def.class
(object_declaration name: (identifier) @name (class_body)? @body) @def.class
(companion_object name: (identifier) @name (class_body)? @body) @def.class
(type_alias type: (identifier) @name) @def.type

; Functions. A function with a receiver is a method of that type.
(function_declaration (user_type (identifier) @owner .) . name: (identifier) @name (function_body)? @body) @def.function
(function_declaration
  (user_type (identifier) @owner . (type_arguments) .)
  .
  name: (identifier) @name
  (function_body)? @body) @def.function
(class_body (function_declaration name: (identifier) @name (function_body)? @body) @def.method)
(function_declaration name: (identifier) @name (function_body)? @body) @def.function
(secondary_constructor "constructor" @name (block)? @body) @def.method

; Properties of files and types.
(source_file
  (property_declaration
    (modifiers (property_modifier) @_modifier)
    (variable_declaration . (identifier) @name)
    (#eq? @_modifier "const")) @def.constant)
(class_body
  (property_declaration
    (modifiers (property_modifier) @_modifier)
    (variable_declaration . (identifier) @name)
    (#eq? @_modifier "const")) @def.constant)
(source_file (property_declaration (variable_declaration . (identifier) @name) [(getter) (setter)]? @body) @def.variable)
(class_body (property_declaration (variable_declaration . (identifier) @name) [(getter) (setter)]? @body) @def.variable)
(enum_class_body (property_declaration (variable_declaration . (identifier) @name) [(getter) (setter)]? @body) @def.variable)

; Bases. A class is constructed where it is named as a base; an interface is not.
(delegation_specifier
  (constructor_invocation (user_type (identifier) @qualifier . (identifier) @ref.extends .)))
(delegation_specifier
  (constructor_invocation (user_type (identifier) @qualifier . (identifier) @ref.extends . (type_arguments) .)))
(delegation_specifier (constructor_invocation (user_type (identifier) @ref.extends .)))
(delegation_specifier (constructor_invocation (user_type (identifier) @ref.extends . (type_arguments) .)))
(delegation_specifier (user_type (identifier) @qualifier . (identifier) @ref.implements .))
(delegation_specifier (user_type (identifier) @qualifier . (identifier) @ref.implements . (type_arguments) .))
(delegation_specifier (user_type (identifier) @ref.implements .))
(delegation_specifier (user_type (identifier) @ref.implements . (type_arguments) .))
(explicit_delegation (user_type (identifier) @qualifier . (identifier) @ref.implements .))
(explicit_delegation (user_type (identifier) @ref.implements .))
(explicit_delegation (user_type (identifier) @ref.implements . (type_arguments) .))

; Calls.
(call_expression . (identifier) @ref.call)
(call_expression . (navigation_expression . (_) @qualifier (identifier) @ref.call .))
(infix_expression . (_) @qualifier . (identifier) @ref.call)

; Imports.
(import (qualified_identifier) @import.path "*") @import.wildcard
(import (qualified_identifier) @import.path . (identifier) @import.alias) @import
(import (qualified_identifier) @import.path) @import
