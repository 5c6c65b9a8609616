; Swift. Every top-level name that is not private can be used by the other files of its module.

[(comment) (multiline_comment)] @doc

; Types. An extension has the name of the type that it extends.
(class_declaration declaration_kind: "struct" name: (type_identifier) @name body: (_) @body) @def.struct
(class_declaration declaration_kind: "enum" name: (type_identifier) @name body: (_) @body) @def.enum
(class_declaration name: (type_identifier) @name body: (_) @body) @def.class
(class_declaration declaration_kind: "extension" name: (user_type (type_identifier) @name .) body: (_) @body) @def.class
(class_declaration
  declaration_kind: "extension"
  name: (user_type (type_identifier) @name . (type_arguments) .)
  body: (_) @body) @def.class
(protocol_declaration name: (type_identifier) @name body: (_) @body) @def.interface
(typealias_declaration . (modifiers)? . name: (type_identifier) @name) @def.type
(associatedtype_declaration . (modifiers)? . name: (type_identifier) @name) @def.type

; Functions. The name of an operator is not an identifier. The type that a function returns has the same field as its name.
; One pattern, because patterns for functions of this grammar take long to compile.
(function_declaration
  name: [
    (simple_identifier) (custom_operator) (bang)
    "==" "!=" "===" "!==" "<" "<=" ">" ">=" "+" "-" "*" "/" "%" "+=" "-=" "*=" "/=" "%=" "++" "--" "&" "|" "^" "~" "<<" ">>"
  ] @name
  body: (_)? @body) @def.function
(protocol_function_declaration
  name: [
    (simple_identifier) (custom_operator) (bang)
    "==" "!=" "===" "!==" "<" "<=" ">" ">=" "+" "-" "*" "/" "%" "+=" "-=" "*=" "/=" "%=" "++" "--" "&" "|" "^" "~" "<<" ">>"
  ] @name) @def.method
(init_declaration "init" @name body: (_)? @body) @def.method
(deinit_declaration "deinit" @name body: (_)? @body) @def.method
(subscript_declaration "subscript" @name (computed_property)? @body) @def.method
(macro_declaration (simple_identifier) @name) @def.macro

; Properties of files and types. A static one counts as a constant.
(source_file
  (property_declaration
    (value_binding_pattern) @_binding
    name: (pattern bound_identifier: (simple_identifier) @name)
    computed_value: (_)? @body
    (#eq? @_binding "let")) @def.constant)
(source_file
  (property_declaration
    name: (pattern bound_identifier: (simple_identifier) @name)
    computed_value: (_)? @body) @def.variable)
(class_body
  (property_declaration
    (modifiers (property_modifier) @_modifier)
    (value_binding_pattern) @_binding
    name: (pattern bound_identifier: (simple_identifier) @name)
    (#eq? @_modifier "static")
    (#eq? @_binding "let")) @def.constant)
(class_body
  (property_declaration
    name: (pattern bound_identifier: (simple_identifier) @name)
    computed_value: (_)? @body) @def.variable)
(enum_class_body
  (property_declaration
    name: (pattern bound_identifier: (simple_identifier) @name)
    computed_value: (_)? @body) @def.variable)
(protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @def.variable

; Bases. Only the first base of a class can be a class; a protocol extends protocols.
(class_declaration
  declaration_kind: "class"
  ":"
  .
  (inheritance_specifier inherits_from: (user_type (type_identifier) @qualifier . (type_identifier) @ref.extends .)))
(class_declaration
  declaration_kind: "class"
  ":"
  .
  (inheritance_specifier
    inherits_from: (user_type (type_identifier) @qualifier . (type_identifier) @ref.extends . (type_arguments) .)))
(class_declaration
  declaration_kind: "class"
  ":"
  .
  (inheritance_specifier inherits_from: (user_type (type_identifier) @ref.extends .)))
(class_declaration
  declaration_kind: "class"
  ":"
  .
  (inheritance_specifier inherits_from: (user_type (type_identifier) @ref.extends . (type_arguments) .)))
(protocol_declaration
  (inheritance_specifier inherits_from: (user_type (type_identifier) @qualifier . (type_identifier) @ref.extends .)))
(protocol_declaration (inheritance_specifier inherits_from: (user_type (type_identifier) @ref.extends .)))
(class_declaration
  (inheritance_specifier inherits_from: (user_type (type_identifier) @qualifier . (type_identifier) @ref.implements .)))
(class_declaration (inheritance_specifier inherits_from: (user_type (type_identifier) @ref.implements .)))
(class_declaration
  (inheritance_specifier inherits_from: (user_type (type_identifier) @ref.implements . (type_arguments) .)))

; Calls. `a[1]` has the same node as `a(1)`.
(call_expression . (simple_identifier) @ref.call (call_suffix . [(value_arguments "(") (lambda_literal)]))
(call_expression
  .
  (navigation_expression target: (_) @qualifier suffix: (navigation_suffix suffix: (simple_identifier) @ref.call))
  (call_suffix . [(value_arguments "(") (lambda_literal)]))
(constructor_expression constructed_type: (user_type (type_identifier) @qualifier . (type_identifier) @ref.call .))
(constructor_expression
  constructed_type: (user_type (type_identifier) @qualifier . (type_identifier) @ref.call . (type_arguments) .))
(constructor_expression constructed_type: (user_type (type_identifier) @ref.call .))
(constructor_expression constructed_type: (user_type (type_identifier) @ref.call . (type_arguments) .))

; Imports. `import struct Storage.Cache` takes one name of a module.
(import_declaration
  (modifiers (attribute (user_type (type_identifier) @_attribute)))
  (identifier) @import.path
  (#eq? @_attribute "_exported")) @import.reexport
(import_declaration (identifier) @import.path) @import
