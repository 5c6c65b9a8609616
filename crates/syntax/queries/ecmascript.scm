; What JavaScript and TypeScript share.
(comment) @doc
(decorator) @attribute
(export_statement declaration: (_) @wrapped) @wrapper
(export_statement value: (_) @wrapped) @wrapper

; Functions and classes
(function_declaration name: (_) @name body: (_) @body) @def.function
(generator_function_declaration name: (_) @name body: (_) @body) @def.function
(class_declaration name: (_) @name body: (_) @body) @def.class
(class_body (method_definition name: (_) @name body: (_) @body) @def.method)
(lexical_declaration
  (variable_declarator name: (identifier) @name value: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)])) @def.function
(variable_declaration
  (variable_declarator name: (identifier) @name value: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)])) @def.function
(lexical_declaration (variable_declarator name: (identifier) @name value: (class body: (_) @body))) @def.class
(export_statement "default" @name value: [(arrow_function body: (_) @body) (function_expression !name body: (_) @body)]) @def.function
(export_statement "default" @name value: (class !name body: (_) @body)) @def.class
(export_statement value: (function_expression name: (_) @name body: (_) @body) @def.function)
(export_statement value: (class name: (_) @name body: (_) @body) @def.class)

; Functions of an object that has a name of its own
(program (lexical_declaration (variable_declarator value: (object (method_definition name: (_) @name body: (_) @body) @def.method))))
(program (export_statement (lexical_declaration
  (variable_declarator value: (object (method_definition name: (_) @name body: (_) @body) @def.method)))))
(program (export_statement value: (object (method_definition name: (_) @name body: (_) @body) @def.method)))

; `Type.prototype.name = function () {}`, `exports.name = function () {}`
((program (expression_statement (assignment_expression
    left: (member_expression
      object: (member_expression object: (identifier) @owner property: (property_identifier) @_prototype)
      property: (property_identifier) @name)
    right: [(function_expression body: (_) @body) (arrow_function body: (_) @body)])) @def.method)
  (#eq? @_prototype "prototype"))
(program (expression_statement (assignment_expression
    left: (member_expression property: (property_identifier) @name)
    right: [(function_expression body: (_) @body) (arrow_function body: (_) @body)])) @def.function)

; Names at the top level
(program (lexical_declaration kind: "const" (variable_declarator name: (identifier) @name)) @def.constant)
(program (export_statement declaration: (lexical_declaration kind: "const" (variable_declarator name: (identifier) @name)) @def.constant))
(program (lexical_declaration kind: "let" (variable_declarator name: (identifier) @name)) @def.variable)
(program (export_statement declaration: (lexical_declaration kind: "let" (variable_declarator name: (identifier) @name)) @def.variable))
(program (variable_declaration (variable_declarator name: (identifier) @name)) @def.variable)
(program (export_statement declaration: (variable_declaration (variable_declarator name: (identifier) @name)) @def.variable))

; Calls
((call_expression function: (identifier) @ref.call) (#not-eq? @ref.call "require"))
(call_expression function: (member_expression object: (_) @qualifier property: [(property_identifier) (private_property_identifier)] @ref.call))
(new_expression constructor: (identifier) @ref.call)
(new_expression constructor: (member_expression object: (_) @qualifier property: (property_identifier) @ref.call))

; Imports and exports: statements are read by code.
(import_statement) @import.walk
(program (export_statement) @import.walk)
((comment) @import.walk (#match? @import.walk "^///[ \t]*<reference[ \t]"))
(call_expression function: (import) arguments: (arguments . [(string) (template_string . (string_fragment) .)] @import.path)) @import.dynamic
((call_expression function: (identifier) @_require arguments: (arguments . (string) @import.path)) @import.dynamic
  (#eq? @_require "require"))
((variable_declarator
    name: (identifier) @import.alias
    value: (call_expression function: (identifier) @_require arguments: (arguments . (string))) @import.dynamic)
  (#eq? @_require "require"))
((variable_declarator
    name: (object_pattern (shorthand_property_identifier_pattern) @import.name)
    value: (call_expression function: (identifier) @_require arguments: (arguments . (string))) @import.dynamic)
  (#eq? @_require "require"))
((variable_declarator
    name: (object_pattern (pair_pattern key: (property_identifier) @import.name value: (identifier) @import.alias))
    value: (call_expression function: (identifier) @_require arguments: (arguments . (string))) @import.dynamic)
  (#eq? @_require "require"))

; CommonJS
((assignment_expression
    left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports) @export.default)
  (#eq? @_module "module") (#eq? @_exports "exports"))
((assignment_expression left: (member_expression object: (identifier) @_exports property: (property_identifier) @export.name))
  (#eq? @_exports "exports"))
((assignment_expression
    left: (member_expression
      object: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
      property: (property_identifier) @export.name))
  (#eq? @_module "module") (#eq? @_exports "exports"))
((assignment_expression
    left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
    right: (object [(shorthand_property_identifier) @export.name (pair key: (property_identifier) @export.name)]))
  (#eq? @_module "module") (#eq? @_exports "exports"))
