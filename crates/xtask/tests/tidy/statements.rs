//! The statements of a `sql.rs` file, as the compiler would put them together from texts and macros.
#![cfg(test)]

use std::collections::HashMap;

/// A constant that holds SQL.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    pub(crate) name: String,
    /// The whole text, with single spaces.
    pub(crate) text: String,
}

/// Every `const NAME: &str` of `source`, tests aside.
pub(crate) fn statements(source: &str) -> Vec<Statement> {
    let tokens = tokens(source.split("#[cfg(test)]").next().unwrap_or_default());
    let macros = macros(&tokens);
    let mut found = Vec::new();
    for (place, token) in tokens.iter().enumerate() {
        let rest = &tokens[place + 1..];
        let [Token::Word(name), Token::Mark(':'), Token::Mark('&'), Token::Word(kind), ..] = rest else { continue };
        if *token == Token::Word("const".to_owned()) && kind == "str" {
            let end = rest.iter().position(|token| *token == Token::Mark(';')).unwrap_or(rest.len());
            let text = expanded(&rest[4..end], &macros, &HashMap::new());
            found.push(Statement { name: name.clone(), text: text.split_whitespace().collect::<Vec<_>>().join(" ") });
        }
    }
    found
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Text(String),
    Word(String),
    Mark(char),
}

/// A macro of one arm: the names of its arguments, and what it stands for.
struct Macro {
    arguments: Vec<String>,
    body: Vec<Token>,
}

fn tokens(source: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut letters = source.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '/' if letters.peek() == Some(&'/') => while letters.next_if(|letter| *letter != '\n').is_some() {},
            '"' => {
                let mut text = String::new();
                while let Some(letter) = letters.next().filter(|letter| *letter != '"') {
                    // No statement has another escape than a quote.
                    text.push(if letter == '\\' { letters.next().unwrap() } else { letter });
                }
                found.push(Token::Text(text));
            }
            _ if letter.is_alphanumeric() || letter == '_' => {
                let mut word = letter.to_string();
                while let Some(letter) = letters.next_if(|letter| letter.is_alphanumeric() || *letter == '_') {
                    word.push(letter);
                }
                found.push(Token::Word(word));
            }
            _ if letter.is_whitespace() => {}
            _ => found.push(Token::Mark(letter)),
        }
    }
    found
}

/// What stands between the bracket at the start of `tokens` and the one that closes it.
fn inside(tokens: &[Token]) -> &[Token] {
    let mut depth = 0;
    for (place, token) in tokens.iter().enumerate() {
        match token {
            Token::Mark('(' | '{' | '[') => depth += 1,
            Token::Mark(')' | '}' | ']') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &tokens[1..place];
        }
    }
    panic!("a bracket is not closed: {tokens:?}");
}

fn macros(tokens: &[Token]) -> HashMap<String, Macro> {
    let mut found = HashMap::new();
    for (place, token) in tokens.iter().enumerate() {
        let [Token::Mark('!'), Token::Word(name), rest @ ..] = &tokens[place + 1..] else { continue };
        if *token != Token::Word("macro_rules".to_owned()) {
            continue;
        }
        let arm = inside(rest);
        let pattern = inside(arm);
        let arguments = pattern.iter().zip(pattern.iter().skip(1)).filter_map(|pair| match pair {
            (Token::Mark('$'), Token::Word(argument)) => Some(argument.clone()),
            _ => None,
        });
        // Behind the pattern and its brackets stands an arrow.
        let body = inside(&arm[pattern.len() + 4..]).to_vec();
        found.insert(name.clone(), Macro { arguments: arguments.collect(), body });
    }
    found
}

/// The text that an expression of literals, `concat!` and macros stands for.
fn expanded(tokens: &[Token], macros: &HashMap<String, Macro>, given: &HashMap<String, String>) -> String {
    let mut text = String::new();
    let mut rest = tokens;
    while let Some((token, after)) = rest.split_first() {
        rest = after;
        match (token, after) {
            (Token::Text(literal), _) => text.push_str(literal),
            (Token::Mark('$'), [Token::Word(argument), after @ ..]) => {
                text.push_str(&given[argument]);
                rest = after;
            }
            (Token::Word(name), [Token::Mark('!'), call @ ..]) => {
                let passed = inside(call);
                rest = &call[passed.len() + 2..];
                if name == "concat" {
                    text.push_str(&expanded(passed, macros, given));
                } else {
                    let called = macros.get(name).unwrap_or_else(|| panic!("`{name}!` is not in this file"));
                    let passed = passed.split(|token| *token == Token::Mark(','));
                    let passed = passed.map(|argument| expanded(argument, macros, given));
                    text.push_str(&expanded(&called.body, macros, &called.arguments.iter().cloned().zip(passed).collect()));
                }
            }
            _ => {}
        }
    }
    text
}

#[test]
fn statements_are_put_together_from_macros() {
    let source = r#"
        /// A "comment" with const NOT: &str = "text";
        macro_rules! columns { ($more:literal) => { concat!("id, ", $more) }; }
        const ROWS_MAX: usize = 3;
        pub(crate) const ONE: &str = concat!("SELECT ", columns!("\"name\""), "
             FROM notes");
        #[cfg(test)]
        const TEST: &str = "SELECT 1";
    "#;
    let one = Statement { name: "ONE".to_owned(), text: "SELECT id, \"name\" FROM notes".to_owned() };
    assert_eq!(statements(source), [one]);
}
