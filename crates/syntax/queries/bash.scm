; Shell scripts. Whoever sources a file sees its functions and variables.

((comment) @doc (#not-match? @doc "^#!"))

(function_definition name: (word) @name body: (_) @body) @def.function

; Variables of the script.
(program
  (declaration_command
    ["declare" "typeset" "readonly"]
    (variable_assignment name: (variable_name) @name)) @def.constant
  (#match? @def.constant "^(readonly|(declare|typeset) +-[a-zA-Z]*r)"))
(program (declaration_command (variable_assignment name: (variable_name) @name)) @def.variable)
(program (variable_assignment name: (variable_name) @name) @def.variable)

; Calls: every command that is a plain word, and the handler of a trap.
(command
  name: (command_name (word) @ref.call)
  (#match? @ref.call "^[A-Za-z_][A-Za-z0-9_:.-]*$")
  (#not-eq? @ref.call "source"))
(command
  name: (command_name (word) @_trap)
  .
  argument: (word) @ref.call
  (#eq? @_trap "trap")
  (#match? @ref.call "^[A-Za-z_][A-Za-z0-9_:.-]*$"))

; Imports. A function reads the path: a folder in a variable usually is the script's own.
(command
  name: (command_name (word) @_source)
  (#match? @_source "^(source|\\.)$")) @import.walk
