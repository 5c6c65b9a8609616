; A component is called by its element. Names in lower case are HTML.
((jsx_opening_element name: (identifier) @ref.call) (#match? @ref.call "^[A-Z]"))
((jsx_self_closing_element name: (identifier) @ref.call) (#match? @ref.call "^[A-Z]"))
(jsx_opening_element name: (member_expression object: (_) @qualifier property: (property_identifier) @ref.call))
(jsx_self_closing_element name: (member_expression object: (_) @qualifier property: (property_identifier) @ref.call))
