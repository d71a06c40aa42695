//! What a screen shows, by the marks that the manifest gives of an agent.
//!
//! A screen is idle only if all of it is said: an idle mark is there, no busy one and no dialog, and the cursor stands at
//! a prompt with nothing behind it. Everything that is not recognised is unknown. Marks are texts and not patterns: what
//! stands in a manifest should be seen on the screen. Rules: DSP-9.

use crate::manifest::Agent;

/// How the screens of an agent are recognised.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// What stands before the input.
    pub prompt: String,
    /// One of these is on every idle screen; if there is none, the empty prompt alone says it.
    pub idle: Vec<String>,
    /// Each of these says that a turn is under way.
    pub busy: Vec<String>,
    /// Each of these says that a question waits for a person.
    pub dialog: Vec<String>,
    /// What an empty input may show behind the prompt.
    pub placeholder: Vec<String>,
}

/// What a screen shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    /// The empty prompt of an idle agent.
    Idle,
    /// A turn is under way, by this mark.
    Busy(String),
    /// A question waits, by this mark.
    Dialog(String),
    /// Somebody has begun to write.
    Draft,
    /// Copy mode, or another that eats keys.
    Mode,
    /// Not recognised, and what was missing.
    Unknown(String),
}

impl Sight {
    pub(super) fn words(&self) -> String {
        match self {
            Self::Idle => "idle".to_owned(),
            Self::Busy(mark) => format!("a turn is under way ({mark:?})"),
            Self::Dialog(mark) => format!("a dialog waits for a person ({mark:?})"),
            Self::Draft => "somebody's draft stands at the prompt".to_owned(),
            Self::Mode => "the pane is in copy mode".to_owned(),
            Self::Unknown(missing) => format!("the screen is not recognised: {missing}"),
        }
    }
}

impl Marks {
    pub(super) fn of(agent: &Agent) -> Option<Self> {
        let texts = |key: &str| agent.texts(key).into_iter().map(plain).collect();
        Some(Self {
            prompt: plain(agent.text("prompt")?).trim_end().to_owned(),
            idle: texts("idle"),
            busy: texts("busy"),
            dialog: texts("dialog"),
            placeholder: texts("placeholder"),
        })
    }

    /// What a screen shows; `cursor` is where it is, if it is shown.
    pub(super) fn judge(&self, lines: &[String], cursor: Option<(usize, usize)>) -> Sight {
        if let Some(mark) = self.dialog(lines) {
            return Sight::Dialog(mark.clone());
        }
        let lines: Vec<String> = lines.iter().map(|line| plain(line)).collect();
        let on_screen = |mark: &&String| lines.iter().any(|line| line.contains(mark.as_str()));
        if let Some(mark) = self.busy.iter().find(on_screen) {
            return Sight::Busy(mark.clone());
        }
        if !self.idle.is_empty() && !self.idle.iter().any(|mark| on_screen(&mark)) {
            return Sight::Unknown(format!("none of the idle marks {:?}", self.idle));
        }
        let Some((at, input)) = self.last_prompt(&lines) else {
            return Sight::Unknown(format!("no line begins with the prompt {:?}", self.prompt));
        };
        if let Some((_, line)) = cursor.filter(|(_, line)| *line != at) {
            let what = format!("the cursor is in line {line} and the last prompt in line {at}");
            // A draft of several lines looks like this as well.
            return Sight::Unknown(what);
        }
        match input {
            input if !input.is_empty() && !self.placeholder.contains(&input) => Sight::Draft,
            _ if cursor.is_none() && !self.ends_below(&lines, at) => Sight::Draft,
            _ => Sight::Idle,
        }
    }

    /// The first mark of a dialog on the screen.
    pub(super) fn dialog(&self, lines: &[String]) -> Option<&String> {
        self.dialog.iter().find(|mark| lines.iter().any(|line| plain(line).contains(mark.as_str())))
    }

    /// Whether a text, and nothing else, stands at the last prompt, over as many lines as it takes, and waits there: the
    /// cursor, if it is shown, stands at its end, and no turn is under way.
    pub(super) fn stands(&self, lines: &[String], cursor: Option<(usize, usize)>, text: &str) -> bool {
        let lines: Vec<String> = lines.iter().map(|line| plain(line)).collect();
        let Some((at, input)) = self.last_prompt(&lines) else { return false };
        let wanted = squeezed(text);
        let (mut shown, mut end) = (squeezed(&input), at);
        while shown.len() < wanted.len() {
            end += 1;
            let Some(line) = lines.get(end) else { return false };
            shown += &squeezed(bare(line));
        }
        let busy = self.busy.iter().any(|mark| lines.iter().any(|line| line.contains(mark.as_str())));
        shown == wanted && !busy && cursor.is_none_or(|(_, line)| line == end)
    }

    /// The last line that begins with the prompt, and what stands behind it.
    fn last_prompt(&self, lines: &[String]) -> Option<(usize, String)> {
        lines.iter().enumerate().rev().find_map(|(at, line)| {
            let input = bare(line).strip_prefix(self.prompt.as_str())?;
            Some((at, input.trim().to_owned()))
        })
    }

    /// Whether the input ends with its first line: what follows is empty, a frame, or an idle mark.
    fn ends_below(&self, lines: &[String], at: usize) -> bool {
        lines.get(at + 1).is_none_or(|line| {
            bare(line).is_empty() || self.idle.iter().any(|mark| line.contains(mark.as_str()))
        })
    }
}

/// A line with every kind of blank as a blank.
fn plain(line: &str) -> String {
    line.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect()
}

/// A line without blanks and frame around it.
fn bare(line: &str) -> &str {
    line.trim_matches(|c: char| c == ' ' || ('\u{2500}'..='\u{257f}').contains(&c))
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks() -> Marks {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Marks {
            prompt: ">".to_owned(),
            idle: texts(&["? for help"]),
            busy: texts(&["esc to interrupt"]),
            dialog: texts(&["Do you want to proceed?"]),
            placeholder: texts(&["Try \"fix it\""]),
        }
    }

    fn screen(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    fn sees(text: &str, cursor: Option<(usize, usize)>) -> Sight {
        marks().judge(&screen(text), cursor)
    }

    #[test]
    fn dsp_9_only_an_empty_prompt_of_an_idle_agent_is_idle() {
        for idle in [
            "old\n>\n? for help",
            "│ >\u{a0}                    │\n╰─────╯\n  ? for help",
            "> earlier\nanswer\n│ > Try \"fix it\"  │\n? for help",
        ] {
            let at = screen(idle).iter().rposition(|line| line.contains('>')).unwrap();
            assert_eq!(sees(idle, Some((2, at))), Sight::Idle, "{idle}");
            assert_eq!(sees(idle, None), Sight::Idle, "{idle}");
        }
    }

    #[test]
    fn dsp_9_whatever_else_a_screen_shows_is_not_idle() {
        let cursor = Some((2, 0));
        assert_eq!(sees("> merge only after\n? for help", cursor), Sight::Draft);
        assert_eq!(sees("> \n  a second line\n? for help", None), Sight::Draft);
        assert!(matches!(sees("> \n  a second line\n? for help", Some((8, 1))), Sight::Unknown(_)));
        assert!(matches!(sees(">\n* esc to interrupt\n? for help", cursor), Sight::Busy(_)));
        assert!(matches!(sees(">\nDo you want to proceed?\n? for help", cursor), Sight::Dialog(_)));
        assert!(matches!(sees("Do you want to proceed?\nesc to interrupt", cursor), Sight::Dialog(_)));
        // A new version of the agent changed what it shows: neither idle nor busy.
        assert!(matches!(sees(">\n* ctrl-c to interrupt", cursor), Sight::Unknown(_)));
        assert!(matches!(sees("$\n? for help", cursor), Sight::Unknown(_)));
        assert!(matches!(sees("", None), Sight::Unknown(_)));
    }

    #[test]
    fn dsp_9_a_typed_text_is_known_again_over_the_ends_of_lines() {
        let text = "awakener: read the inbox";
        for there in [
            "> awakener: read the inbox",
            "│ > awakener: read │\n│   the inbox      │\n╰──╯",
            "> awaken\ner: read the inbox",
        ] {
            assert!(marks().stands(&screen(there), None, text), "{there}");
        }
        // Echoed by the terminal: the line stays when it was submitted, and the cursor has moved on.
        let echoed = screen("> awakener: read the inbox\n");
        assert!(marks().stands(&echoed, Some((26, 0)), text) && !marks().stands(&echoed, Some((0, 1)), text));
        assert!(!marks().stands(&screen("> awakener: read the inbox\nesc to interrupt"), None, text));
        for other in [
            ">",
            "> awakener: read",
            "> draft awakener: read the inbox",
            "> awakener: read the inbox!",
            "awakener: read the inbox\n>",
        ] {
            assert!(!marks().stands(&screen(other), None, text), "{other}");
        }
    }
}
