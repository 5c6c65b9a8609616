(template_declaration (_) @wrapped .) @wrapper

; Types
(class_specifier name: (_) @name body: (_) @body) @def.class
(struct_specifier name: (template_type name: (_) @name) body: (_) @body) @def.struct
(namespace_definition name: (_) @name body: (_) @body) @def.module
(alias_declaration name: (type_identifier) @name) @def.type
(concept_definition name: (identifier) @name) @def.type

; Functions of a class, written in it, and operators
(function_definition
  declarator: (function_declarator declarator: [(field_identifier) (destructor_name) (operator_name)] @name)
  body: (_) @body) @def.function
(function_definition
  declarator: (_ (function_declarator declarator: [(field_identifier) (operator_name)] @name))
  body: (_) @body) @def.function
(function_definition declarator: (function_declarator declarator: [(field_identifier) (destructor_name) (operator_name)] @name)) @def.function
(function_definition declarator: (_ (function_declarator declarator: [(field_identifier) (operator_name)] @name))) @def.function
(function_definition declarator: (function_declarator declarator: (identifier) @name) [(default_method_clause) (delete_method_clause)]) @def.function
(field_declaration declarator: (function_declarator declarator: [(field_identifier) (operator_name)] @name)) @def.function
(field_declaration declarator: (_ (function_declarator declarator: [(field_identifier) (operator_name)] @name))) @def.function
(declaration declarator: (function_declarator declarator: [(destructor_name) (operator_name)] @name)) @def.function
(field_declaration declarator: (field_identifier) @name) @def.variable
(field_declaration declarator: (pointer_declarator declarator: (field_identifier) @name)) @def.variable

; Functions of a class, written outside of it
(function_definition
  declarator: (function_declarator
    declarator: (qualified_identifier scope: (_) @owner name: [(identifier) (destructor_name) (operator_name)] @name))
  body: (_) @body) @def.method
(function_definition
  declarator: (function_declarator
    declarator: (qualified_identifier
      name: (qualified_identifier scope: (_) @owner name: [(identifier) (destructor_name) (operator_name)] @name)))
  body: (_) @body) @def.method
(function_definition
  declarator: (_ (function_declarator
    declarator: (qualified_identifier scope: (_) @owner name: [(identifier) (operator_name)] @name)))
  body: (_) @body) @def.method
(function_definition declarator: (reference_declarator (function_declarator declarator: (identifier) @name)) body: (_) @body) @def.function

; Calls. A qualifier that is around the name ends where the name starts.
(call_expression function: (qualified_identifier name: (identifier) @ref.call) @qualifier)
(call_expression function: (qualified_identifier name: (qualified_identifier name: (identifier) @ref.call)) @qualifier)
(call_expression
  function: (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: (identifier) @ref.call))) @qualifier)
(call_expression function: (template_function name: (identifier) @ref.call))
(call_expression function: (qualified_identifier name: (template_function name: (identifier) @ref.call)) @qualifier)
(call_expression
  function: (qualified_identifier name: (qualified_identifier name: (template_function name: (identifier) @ref.call))) @qualifier)
(call_expression function: (field_expression argument: (_) @qualifier field: (template_method name: (field_identifier) @ref.call)))
(call_expression
  function: (field_expression argument: (_) @qualifier field: (dependent_name (template_method name: (field_identifier) @ref.call))))
(new_expression type: (type_identifier) @ref.call)
(new_expression type: (template_type name: (type_identifier) @ref.call))
(new_expression type: (qualified_identifier scope: (_) @qualifier name: (type_identifier) @ref.call))

; Bases
(base_class_clause (type_identifier) @ref.extends)
(base_class_clause (template_type name: (type_identifier) @ref.extends))
(base_class_clause (qualified_identifier scope: (_) @qualifier name: (type_identifier) @ref.extends))
(base_class_clause (qualified_identifier scope: (_) @qualifier name: (template_type name: (type_identifier) @ref.extends)))
