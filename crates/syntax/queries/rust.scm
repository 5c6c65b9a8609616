; Comments and attributes. `//!` belongs to what is around it.
(line_comment !inner) @doc
(block_comment !inner) @doc
(attribute_item) @attribute

; Definitions
(function_item name: (identifier) @name body: (block) @body) @def.function
(function_signature_item name: (identifier) @name) @def.function
(struct_item name: (type_identifier) @name body: (field_declaration_list) @body) @def.struct
(struct_item name: (type_identifier) @name) @def.struct
(union_item name: (type_identifier) @name body: (_) @body) @def.struct
(enum_item name: (type_identifier) @name body: (_) @body) @def.enum
(trait_item name: (type_identifier) @name body: (_) @body) @def.trait
(mod_item name: (identifier) @name body: (_) @body) @def.module
(type_item name: (type_identifier) @name) @def.type
(associated_type name: (type_identifier) @name) @def.type
(const_item name: (identifier) @name) @def.constant
(static_item name: (identifier) @name) @def.constant
(macro_definition name: (identifier) @name) @def.macro

; Methods belong to the type of their `impl`.
(impl_item type: (_) @owner) @scope

; Calls
(call_expression function: (identifier) @ref.call)
(call_expression function: (field_expression value: (_) @qualifier field: (field_identifier) @ref.call))
(call_expression function: (scoped_identifier path: (_) @qualifier name: (identifier) @ref.call))
(call_expression function: (scoped_identifier !path name: (identifier) @ref.call))
(generic_function function: (identifier) @ref.call)
(generic_function function: (field_expression value: (_) @qualifier field: (field_identifier) @ref.call))
(generic_function function: (scoped_identifier path: (_) @qualifier name: (identifier) @ref.call))
(struct_expression name: (type_identifier) @ref.call)
(struct_expression name: (scoped_type_identifier path: (_) @qualifier name: (type_identifier) @ref.call))
(macro_invocation macro: (identifier) @ref.call)
(macro_invocation macro: (scoped_identifier path: (_) @qualifier name: (identifier) @ref.call))

; Arguments of a macro are plain tokens: a name before parentheses is a call.
(token_tree [(identifier) (self)] @qualifier . ["." "::"] . (identifier) @ref.call . (token_tree . "("))
(token_tree (identifier) @ref.call . (token_tree . "("))

; Supertraits and implemented traits
(trait_item bounds: (trait_bounds (type_identifier) @ref.extends))
(trait_item bounds: (trait_bounds (generic_type type: (type_identifier) @ref.extends)))
(trait_item bounds: (trait_bounds (scoped_type_identifier path: (_) @qualifier name: (type_identifier) @ref.extends)))
(impl_item trait: (type_identifier) @ref.implements)
(impl_item trait: (generic_type type: (type_identifier) @ref.implements))
(impl_item trait: (scoped_type_identifier path: (_) @qualifier name: (type_identifier) @ref.implements))
(impl_item trait: (generic_type type: (scoped_type_identifier path: (_) @qualifier name: (type_identifier) @ref.implements)))

; Imports: a tree of paths is read by code.
(use_declaration) @import.walk
(mod_item name: (identifier) @import.path !body) @import.module
(extern_crate_declaration name: (identifier) @import.path alias: (identifier)? @import.alias) @import
