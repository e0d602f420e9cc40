//! Which comment goes where.
//!
//! Comments are handed out in the order in which they stand. One at the end of a line belongs to
//! what it follows; any other belongs to what comes next and gets a line of its own. A comment in
//! a place where none can be printed waits for the next place where one can.

use crate::parser::Comment;

pub(super) struct Comments<'a> {
    text: &'a str,
    left: &'a [Comment],
    /// Where what was handed out last, or asked about last, ends.
    end: usize,
}

impl<'a> Comments<'a> {
    pub(super) fn new(comments: &'a [Comment], text: &'a str) -> Comments<'a> {
        Comments { text, left: comments, end: 0 }
    }

    /// The comments in front of byte `start`.
    pub(super) fn before(&mut self, start: u32) -> &'a [Comment] {
        let count = self.left.iter().take_while(|c| c.span.start < start).count();
        let (taken, left) = self.left.split_at(count);
        self.left = left;
        taken
    }

    /// The comment that follows byte `end` on the same line, with at most characters of `signs`
    /// in between.
    pub(super) fn behind(&mut self, end: u32, signs: &str) -> Option<&'a Comment> {
        let (first, left) = self.left.split_first()?;
        let between = self.text.get(end as usize..first.span.start as usize)?;
        let near = |c: char| matches!(c, ' ' | '\t') || signs.contains(c);
        if !between.chars().all(near) {
            return None;
        }
        self.left = left;
        Some(first)
    }

    /// Where the next comment starts, if that is in front of `start`; else `start`.
    pub(super) fn next_start(&self, start: u32) -> u32 {
        self.left.first().map_or(start, |c| c.span.start.min(start))
    }

    /// Remembers that everything in front of `end` is dealt with.
    pub(super) fn reached(&mut self, end: u32) {
        self.end = self.end.max(end as usize);
    }

    /// Whether the user left a blank line between what was reached last and `start`.
    pub(super) fn blank_before(&self, start: u32) -> bool {
        let between = self.text.get(self.end..start as usize).unwrap_or("");
        let mut lines = between.split('\n');
        // The first and the last piece share their lines with something else.
        lines.next();
        lines.next_back();
        lines.any(|line| line.trim().is_empty())
    }

    /// Where the first thing behind byte `end` starts that is no comment and none of `signs`.
    pub(super) fn next_sign(&self, end: u32, signs: &str) -> u32 {
        let mut rest = self.text.get(end as usize..).unwrap_or("");
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() || signs.contains(c));
            if !rest.starts_with("//") {
                return (self.text.len() - rest.len()) as u32;
            }
            rest = rest.split_once('\n').map_or("", |(_, below)| below);
        }
    }
}
