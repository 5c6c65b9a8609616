; PHP. Other files can use every class, function and constant of a file's namespace.

(comment) @doc

(namespace_definition name: (namespace_name) @package)

; Types.
(class_declaration name: (name) @name body: (_) @body) @def.class
(interface_declaration name: (name) @name body: (_) @body) @def.interface
(trait_declaration name: (name) @name body: (_) @body) @def.trait
(enum_declaration name: (name) @name body: (_) @body) @def.enum

; Functions and members.
(function_definition name: (name) @name body: (_) @body) @def.function
(method_declaration name: (name) @name body: (_)? @body) @def.method
(const_declaration (const_element . (name) @name)) @def.constant
(property_declaration (property_element name: (variable_name (name) @name))) @def.variable
(function_call_expression
  function: (name) @_define
  arguments: (arguments . (argument (string (string_content) @name)))
  (#eq? @_define "define")) @def.constant

; Bases. An interface extends interfaces; a class uses traits. `\A` is the `A` of no namespace: its qualifier is `\`.
(base_clause (name) @ref.extends)
(base_clause (qualified_name prefix: (namespace_name) @qualifier (name) @ref.extends .))
(base_clause (qualified_name . "\\" @qualifier . (name) @ref.extends .))
(class_interface_clause (name) @ref.implements)
(class_interface_clause (qualified_name prefix: (namespace_name) @qualifier (name) @ref.implements .))
(class_interface_clause (qualified_name . "\\" @qualifier . (name) @ref.implements .))
(use_declaration (name) @ref.extends)
(use_declaration (qualified_name prefix: (namespace_name) @qualifier (name) @ref.extends .))
(use_declaration (qualified_name . "\\" @qualifier . (name) @ref.extends .))

; Calls.
(function_call_expression function: (name) @ref.call (#not-eq? @ref.call "define"))
(function_call_expression function: (qualified_name prefix: (namespace_name) @qualifier (name) @ref.call .))
(function_call_expression function: (qualified_name . "\\" @qualifier . (name) @ref.call .))
(function_call_expression function: (relative_name (name) @ref.call .))
(member_call_expression object: (_) @qualifier name: (name) @ref.call)
(nullsafe_member_call_expression object: (_) @qualifier name: (name) @ref.call)
(scoped_call_expression scope: (_) @qualifier name: (name) @ref.call)
(object_creation_expression (name) @ref.call (#not-match? @ref.call "^(self|static|parent)$"))
(object_creation_expression (qualified_name prefix: (namespace_name) @qualifier (name) @ref.call .))
(object_creation_expression (qualified_name . "\\" @qualifier . (name) @ref.call .))

; Imports. Each part of `use A\B, C\D` is an import of its own; the names in braces belong to one.
(namespace_use_declaration
  (namespace_use_clause . [(name) (qualified_name)] @import.path alias: (name)? @import.alias) @import)
(namespace_use_declaration
  (namespace_name) @import.path
  body: (namespace_use_group
    (namespace_use_clause . (_) @import.name alias: (name)? @import.alias))) @import

; A file by its name. A function reads what stands before the name: `__DIR__ . '/a.php'` is `./a.php`.
[
  (require_expression)
  (require_once_expression)
  (include_expression)
  (include_once_expression)
] @import.walk
