(comment) @doc
(package_clause (package_identifier) @package)

; Definitions
(function_declaration name: (identifier) @name body: (_) @body) @def.function
(function_declaration name: (identifier) @name) @def.function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: (_) @owner))
  name: (field_identifier) @name
  body: (_) @body) @def.method
(type_declaration . "type" . (type_spec name: (type_identifier) @name type: (struct_type (field_declaration_list) @body))) @def.struct
(type_declaration . "type" . (type_spec name: (type_identifier) @name type: (interface_type "{" @body))) @def.interface
(type_declaration . "type" . (type_spec name: (type_identifier) @name)) @def.type
(type_declaration . "type" . (type_alias name: (type_identifier) @name)) @def.type
(type_spec name: (type_identifier) @name type: (struct_type (field_declaration_list) @body)) @def.struct
(type_spec name: (type_identifier) @name type: (interface_type "{" @body)) @def.interface
(type_spec name: (type_identifier) @name) @def.type
(type_alias name: (type_identifier) @name) @def.type
(method_elem name: (field_identifier) @name) @def.method
(source_file (const_declaration . "const" . (const_spec name: (identifier) @name)) @def.constant)
(source_file (const_declaration (const_spec name: (identifier) @name) @def.constant))
(source_file (var_declaration . "var" . (var_spec name: (identifier) @name)) @def.variable)
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name) @def.variable)))

; Calls
(call_expression function: (identifier) @ref.call)
(call_expression function: (selector_expression operand: (_) @qualifier field: (field_identifier) @ref.call))
(composite_literal type: (type_identifier) @ref.call)
(composite_literal type: (generic_type type: (type_identifier) @ref.call))
; A call with type arguments looks like a conversion.
(type_conversion_expression type: (generic_type type: (type_identifier) @ref.call))
(type_conversion_expression type: (generic_type type: (qualified_type package: (_) @qualifier name: (type_identifier) @ref.call)))
(composite_literal type: (qualified_type package: (_) @qualifier name: (type_identifier) @ref.call))

; Embedded types
(field_declaration !name type: (type_identifier) @ref.extends)
(field_declaration !name type: (qualified_type package: (_) @qualifier name: (type_identifier) @ref.extends))
(field_declaration !name type: (generic_type type: (type_identifier) @ref.extends))
(interface_type (type_elem . (type_identifier) @ref.extends .))
(interface_type (type_elem . (qualified_type package: (_) @qualifier name: (type_identifier) @ref.extends) .))

; Imports
(import_spec path: (_) @import.path) @import
(import_spec name: (package_identifier) @import.alias) @import
(import_spec name: (dot)) @import.wildcard
