(line_comment) @doc
(block_comment) @doc
[(marker_annotation) (annotation)] @attribute
(package_declaration [(identifier) (scoped_identifier)] @package)

; Definitions
(class_declaration name: (identifier) @name body: (_) @body) @def.class
(record_declaration name: (identifier) @name body: (_) @body) @def.class
(interface_declaration name: (identifier) @name body: (_) @body) @def.interface
(annotation_type_declaration name: (identifier) @name body: (_) @body) @def.interface
(enum_declaration name: (identifier) @name body: (_) @body) @def.enum
(method_declaration name: (identifier) @name body: (_) @body) @def.method
(method_declaration name: (identifier) @name) @def.method
(annotation_type_element_declaration name: (identifier) @name) @def.method
(constructor_declaration name: (identifier) @name body: (_) @body) @def.method
(compact_constructor_declaration name: (identifier) @name body: (_) @body) @def.method
((field_declaration (modifiers "static" "final") declarator: (variable_declarator name: (identifier) @name)) @def.constant)
(field_declaration declarator: (variable_declarator name: (identifier) @name)) @def.variable
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @def.constant

; Calls
(method_invocation object: (_) @qualifier name: (identifier) @ref.call)
(method_invocation !object name: (identifier) @ref.call)
(object_creation_expression type: (type_identifier) @ref.call)
(object_creation_expression type: (generic_type (type_identifier) @ref.call))
(object_creation_expression type: (scoped_type_identifier (_) @qualifier . (type_identifier) @ref.call .))

; Bases
(superclass (type_identifier) @ref.extends)
(superclass (generic_type (type_identifier) @ref.extends))
(superclass (scoped_type_identifier (_) @qualifier . (type_identifier) @ref.extends .))
(super_interfaces (type_list (type_identifier) @ref.implements))
(super_interfaces (type_list (generic_type (type_identifier) @ref.implements)))
(super_interfaces (type_list (scoped_type_identifier (_) @qualifier . (type_identifier) @ref.implements .)))
(extends_interfaces (type_list (type_identifier) @ref.extends))
(extends_interfaces (type_list (generic_type (type_identifier) @ref.extends)))
(extends_interfaces (type_list (scoped_type_identifier (_) @qualifier . (type_identifier) @ref.extends .)))

; Imports
(import_declaration [(identifier) (scoped_identifier)] @import.path) @import
(import_declaration (asterisk)) @import.wildcard
