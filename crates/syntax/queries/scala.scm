; Scala 2 and 3. What is at the top level and not private can be used by other files.

[(comment) (block_comment)] @doc

; Several package clauses in a row make one package: code joins them.
(package_clause) @import.walk

; Types.
(class_definition name: (_) @name body: (_)? @body) @def.class
(object_definition name: (_) @name body: (_)? @body) @def.class
(package_object name: (_) @name body: (_)? @body) @def.class
(trait_definition name: (_) @name body: (_)? @body) @def.trait
(enum_definition name: (_) @name body: (_)? @body) @def.enum
(given_definition name: (_) @name body: (with_template_body) @body) @def.class
(given_definition name: (_) @name body: (_)? @body) @def.constant
(type_definition name: (_) @name) @def.type

; Functions.
(function_definition name: (_) @name body: (_)? @body) @def.function
(function_declaration name: (_) @name) @def.function
(extension_definition
  parameters: (parameters . (parameter type: [(type_identifier) @owner (generic_type type: (type_identifier) @owner)]))) @scope

; Values of files and types. By convention, the name of a constant starts with an upper case letter.
([
  (compilation_unit (val_definition pattern: (identifier) @name) @def.constant)
  (template_body (val_definition pattern: (identifier) @name) @def.constant)
]
  (#match? @name "^[A-Z]"))
(compilation_unit (val_definition pattern: (identifier) @name) @def.variable)
(compilation_unit (var_definition pattern: (identifier) @name) @def.variable)
(template_body (val_definition pattern: (identifier) @name) @def.variable)
(template_body (var_definition pattern: (identifier) @name) @def.variable)
(template_body (val_declaration name: (identifier) @name) @def.variable)
(template_body (var_declaration name: (identifier) @name) @def.variable)
(with_template_body (val_definition pattern: (identifier) @name) @def.variable)
(enum_body (val_definition pattern: (identifier) @name) @def.variable)

; Bases. A trait extends traits; a class extends its first base and implements the others.
(trait_definition extend: (extends_clause (type_identifier) @ref.extends))
(trait_definition extend: (extends_clause (generic_type type: (type_identifier) @ref.extends)))
(extends_clause . (type_identifier) @ref.extends)
(extends_clause . (generic_type type: (type_identifier) @ref.extends))
(extends_clause . (stable_type_identifier (_) @qualifier (type_identifier) @ref.extends))
(extends_clause . (generic_type type: (stable_type_identifier (_) @qualifier (type_identifier) @ref.extends)))
(extends_clause (type_identifier) @ref.implements)
(extends_clause (generic_type type: (type_identifier) @ref.implements))
(extends_clause (stable_type_identifier (_) @qualifier (type_identifier) @ref.implements))
(extends_clause (generic_type type: (stable_type_identifier (_) @qualifier (type_identifier) @ref.implements)))
(given_definition return_type: (type_identifier) @ref.implements body: (with_template_body))
(given_definition return_type: (generic_type type: (type_identifier) @ref.implements) body: (with_template_body))

; Calls. A method without arguments looks like a field: it is not counted.
(call_expression function: (identifier) @ref.call (#not-eq? @ref.call "this"))
(call_expression function: (field_expression value: (_) @qualifier field: (identifier) @ref.call))
(generic_function function: (identifier) @ref.call)
(generic_function function: (field_expression value: (_) @qualifier field: (identifier) @ref.call))
(infix_expression left: (_) @qualifier operator: (identifier) @ref.call)
(instance_expression (type_identifier) @ref.call)
(instance_expression (generic_type type: (type_identifier) @ref.call))
(instance_expression (stable_type_identifier (_) @qualifier (type_identifier) @ref.call))
(instance_expression (generic_type type: (stable_type_identifier (_) @qualifier (type_identifier) @ref.call)))

; Imports: one statement can name several paths, each with its own selectors.
(import_declaration) @import.walk
