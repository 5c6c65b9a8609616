(comment) @doc
(decorated_definition definition: (_) @wrapped) @wrapper

; Definitions. The first pattern that names a node wins: those with a doc string come first.
(function_definition
  name: (identifier) @name
  ":" @body
  body: (block . (expression_statement . (string) @doc.inside))) @def.function
(function_definition name: (identifier) @name ":" @body) @def.function
(class_definition
  name: (identifier) @name
  ":" @body
  body: (block . (expression_statement . (string) @doc.inside))) @def.class
(class_definition name: (identifier) @name ":" @body) @def.class
(type_alias_statement left: (type (identifier) @name)) @def.type
(type_alias_statement left: (type (generic_type (identifier) @name))) @def.type

; Names at the top level of a file or a class
((module (expression_statement (assignment left: (identifier) @name) @def.constant))
  (#match? @name "^_?[A-Z][A-Z0-9_]*$"))
((class_definition body: (block (expression_statement (assignment left: (identifier) @name) @def.constant)))
  (#match? @name "^_?[A-Z][A-Z0-9_]*$"))
(module (expression_statement (assignment left: (identifier) @name) @def.variable))
(module (expression_statement (assignment left: (pattern_list (identifier) @name)) @def.variable))
(class_definition body: (block (expression_statement (assignment left: (identifier) @name) @def.variable)))

; Calls. A decorator is called with what it decorates.
(call function: (identifier) @ref.call)
(call function: (attribute object: (_) @qualifier attribute: (identifier) @ref.call))
(decorator (identifier) @ref.call)
(decorator (attribute object: (_) @qualifier attribute: (identifier) @ref.call))

; Bases
(class_definition superclasses: (argument_list (identifier) @ref.extends))
(class_definition superclasses: (argument_list (attribute object: (_) @qualifier attribute: (identifier) @ref.extends)))
(class_definition superclasses: (argument_list (subscript value: (identifier) @ref.extends)))
(class_definition superclasses: (argument_list (subscript value: (attribute object: (_) @qualifier attribute: (identifier) @ref.extends))))

; Imports are read by code: dots and lists of names.
[(import_statement) (import_from_statement) (future_import_statement)] @import.walk

; `__all__` says what is exported.
((assignment left: (identifier) @_all right: [
    (list (string (string_content) @export.name))
    (tuple (string (string_content) @export.name))])
  (#eq? @_all "__all__"))
((augmented_assignment left: (identifier) @_all right: [
    (list (string (string_content) @export.name))
    (tuple (string (string_content) @export.name))])
  (#eq? @_all "__all__"))
