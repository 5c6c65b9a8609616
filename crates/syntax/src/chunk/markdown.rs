//! Sections of Markdown: from one heading to the next. Headings in fenced code are no headings.

use super::Piece;
use super::lines::Lines;

/// The deepest heading.
const LEVELS: usize = 6;

pub(super) fn is_markdown(path: &str) -> bool {
    let extension = path.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    matches!(extension.as_deref(), Some("md" | "markdown" | "mdx" | "mdown"))
}

/// The sections in order, each with the headings above it and its own.
pub(super) fn sections<'a>(lines: &Lines<'a>) -> Vec<(Piece, Vec<&'a str>)> {
    let mut sections = Vec::new();
    let mut headings: Vec<(usize, &'a str)> = Vec::new();
    let mut first = 0;
    let mut fence: Option<char> = None;
    for line in 0..lines.len() {
        let text = lines.get(line).trim_start();
        let mark = ['`', '~'].into_iter().find(|mark| text.starts_with(&mark.to_string().repeat(3)));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            _ => {}
        }
        let Some((level, heading)) = heading(text).filter(|_| fence.is_none()) else { continue };
        push(&mut sections, first, line, &headings);
        headings.retain(|(above, _)| *above < level);
        headings.push((level, heading));
        first = line;
    }
    push(&mut sections, first, lines.len(), &headings);
    sections
}

fn push<'a>(sections: &mut Vec<(Piece, Vec<&'a str>)>, first: usize, end: usize, headings: &[(usize, &'a str)]) {
    if first < end {
        sections.push((Piece { definition: None, first, end }, headings.iter().map(|(_, heading)| *heading).collect()));
    }
}

/// The level and the words of `## Words ##`.
fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.chars().take_while(|character| *character == '#').count();
    let rest = line.get(level..)?;
    let is_heading = (1..=LEVELS).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t']));
    is_heading.then(|| (level, rest.trim().trim_end_matches('#').trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_know_the_headings_above_them() {
        let text = "intro\n# A\n## B ##\ntext\n```sh\n# not one\n```\n## C\n# D\n#tag\n";
        let found: Vec<_> = sections(&Lines::new(text))
            .into_iter()
            .map(|(piece, headings)| (piece.first, piece.end, headings.join("/")))
            .collect();
        let expected = [(0, 1, ""), (1, 2, "A"), (2, 7, "A/B"), (7, 8, "A/C"), (8, 10, "D")];
        assert_eq!(found, expected.map(|(first, end, headings)| (first, end, headings.to_owned())));
    }
}
