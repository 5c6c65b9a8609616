; C#: a file's types live in its namespace, which is the package. Every top-level type without `file` can be used by other files.

(comment) @doc

(file_scoped_namespace_declaration name: (_) @package)
(namespace_declaration name: (_) @package)

; Types.
(class_declaration name: (identifier) @name body: (_)? @body) @def.class
(record_declaration "struct" name: (identifier) @name body: (_)? @body) @def.struct
(record_declaration name: (identifier) @name body: (_)? @body) @def.class
(struct_declaration name: (identifier) @name body: (_)? @body) @def.struct
(interface_declaration name: (identifier) @name body: (_)? @body) @def.interface
(enum_declaration name: (identifier) @name body: (_)? @body) @def.enum
(delegate_declaration name: (identifier) @name) @def.type

; Members.
(field_declaration
  (modifier) @_modifier
  (variable_declaration (variable_declarator name: (identifier) @name))
  (#any-of? @_modifier "const" "static")) @def.constant
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @def.variable
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @def.variable
(event_declaration name: (identifier) @name accessors: (_)? @body) @def.variable
(property_declaration name: (identifier) @name [accessors: (_) value: (arrow_expression_clause)] @body) @def.variable
(method_declaration name: (identifier) @name body: (_)? @body) @def.method
(constructor_declaration name: (identifier) @name body: (_)? @body) @def.method
(destructor_declaration name: (identifier) @name body: (_)? @body) @def.method
(operator_declaration operator: _ @name body: (_)? @body) @def.method
(indexer_declaration "this" @name [accessors: (_) value: (_)] @body) @def.method
(local_function_statement name: (identifier) @name body: (_)? @body) @def.function

; Bases. Only its name tells an interface from a class.
(base_list (identifier) @ref.implements (#match? @ref.implements "^I[A-Z]"))
(base_list (generic_name . (identifier) @ref.implements) (#match? @ref.implements "^I[A-Z]"))
(base_list (qualified_name qualifier: (_) @qualifier name: (identifier) @ref.implements) (#match? @ref.implements "^I[A-Z]"))
(base_list
  (qualified_name qualifier: (_) @qualifier name: (generic_name . (identifier) @ref.implements))
  (#match? @ref.implements "^I[A-Z]"))
(base_list (identifier) @ref.extends)
(base_list (generic_name . (identifier) @ref.extends))
(base_list (qualified_name qualifier: (_) @qualifier name: (identifier) @ref.extends))
(base_list (qualified_name qualifier: (_) @qualifier name: (generic_name . (identifier) @ref.extends)))
(primary_constructor_base_type type: (identifier) @ref.extends)
(primary_constructor_base_type type: (generic_name . (identifier) @ref.extends))
(primary_constructor_base_type type: (qualified_name qualifier: (_) @qualifier name: (identifier) @ref.extends))
(primary_constructor_base_type
  type: (qualified_name qualifier: (_) @qualifier name: (generic_name . (identifier) @ref.extends)))

; Calls.
(invocation_expression function: (identifier) @ref.call (#not-eq? @ref.call "nameof"))
(invocation_expression function: (generic_name . (identifier) @ref.call))
(invocation_expression function: (member_access_expression expression: _ @qualifier name: (identifier) @ref.call))
(invocation_expression
  function: (member_access_expression expression: _ @qualifier name: (generic_name . (identifier) @ref.call)))
(invocation_expression
  function: (conditional_access_expression
    condition: (_) @qualifier
    (member_binding_expression name: (identifier) @ref.call)))
(invocation_expression
  function: (conditional_access_expression
    condition: (_) @qualifier
    (member_binding_expression name: (generic_name . (identifier) @ref.call))))
(object_creation_expression type: (identifier) @ref.call)
(object_creation_expression type: (generic_name . (identifier) @ref.call))
(object_creation_expression type: (qualified_name qualifier: (_) @qualifier name: (identifier) @ref.call))
(object_creation_expression
  type: (qualified_name qualifier: (_) @qualifier name: (generic_name . (identifier) @ref.call)))

; Imports. `using static` takes every static member of a type.
(using_directive "static" [(identifier) (qualified_name)] @import.path) @import.wildcard
(using_directive name: (identifier) @import.alias "=" (_) @import.path) @import
(using_directive !name [(identifier) (qualified_name) (alias_qualified_name)] @import.path) @import

; Exports.
(compilation_unit
  [
    (class_declaration (modifier)* @_modifier name: (identifier) @export.name)
    (struct_declaration (modifier)* @_modifier name: (identifier) @export.name)
    (record_declaration (modifier)* @_modifier name: (identifier) @export.name)
    (interface_declaration (modifier)* @_modifier name: (identifier) @export.name)
    (enum_declaration (modifier)* @_modifier name: (identifier) @export.name)
    (delegate_declaration (modifier)* @_modifier name: (identifier) @export.name)
  ]
  (#not-eq? @_modifier "file"))
(namespace_declaration
  body: (declaration_list
    [
      (class_declaration (modifier)* @_modifier name: (identifier) @export.name)
      (struct_declaration (modifier)* @_modifier name: (identifier) @export.name)
      (record_declaration (modifier)* @_modifier name: (identifier) @export.name)
      (interface_declaration (modifier)* @_modifier name: (identifier) @export.name)
      (enum_declaration (modifier)* @_modifier name: (identifier) @export.name)
      (delegate_declaration (modifier)* @_modifier name: (identifier) @export.name)
    ])
  (#not-eq? @_modifier "file"))
