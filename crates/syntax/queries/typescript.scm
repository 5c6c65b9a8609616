(abstract_class_declaration name: (_) @name body: (_) @body) @def.class
(interface_declaration name: (_) @name body: (_) @body) @def.interface
(enum_declaration name: (_) @name body: (_) @body) @def.enum
(type_alias_declaration name: (_) @name) @def.type
(internal_module name: (_) @name body: (_) @body) @def.module
(module name: (_) @name body: (_) @body) @def.module
(function_signature name: (_) @name) @def.function
(interface_body (method_signature name: (_) @name) @def.method)
(class_body (method_signature name: (_) @name) @def.method)
(class_body (abstract_method_signature name: (_) @name) @def.method)
(class_body (public_field_definition name: (_) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @def.method)
(class_body (public_field_definition name: (_) @name) @def.variable)
(ambient_declaration (_) @wrapped) @wrapper
(expression_statement (internal_module) @wrapped) @wrapper

(ambient_declaration (lexical_declaration (variable_declarator name: (identifier) @name)) @def.constant)
(ambient_declaration (variable_declaration (variable_declarator name: (identifier) @name)) @def.variable)

; The grammar reads `await f<T>()` as a call of `await f`.
(call_expression function: (await_expression (identifier) @ref.call))
(call_expression function: (await_expression (member_expression object: (_) @qualifier property: (property_identifier) @ref.call)))

; Bases
(extends_clause value: (identifier) @ref.extends)
(extends_clause value: (member_expression object: (_) @qualifier property: (property_identifier) @ref.extends))
(extends_clause value: (call_expression function: (identifier) @ref.extends))
(implements_clause (type_identifier) @ref.implements)
(implements_clause (generic_type name: (type_identifier) @ref.implements))
(implements_clause (nested_type_identifier module: (_) @qualifier name: (type_identifier) @ref.implements))
(implements_clause (generic_type name: (nested_type_identifier module: (_) @qualifier name: (type_identifier) @ref.implements)))
(extends_type_clause type: (type_identifier) @ref.extends)
(extends_type_clause type: (generic_type name: (type_identifier) @ref.extends))
(extends_type_clause type: (nested_type_identifier module: (_) @qualifier name: (type_identifier) @ref.extends))
